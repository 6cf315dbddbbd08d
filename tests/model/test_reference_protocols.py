"""The paper's stimuli against its own code: contrast, with T fixed or scaled along; masks; the decoder."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from dcnbio.model.decoder import centre, encode, load_decoder, rescaled
from dcnbio.model.engine import available
from dcnbio.model.ode_block import ODEBlock

ROWS = ("dcn-ode", "ode-net")


def apart(found: torch.Tensor, wanted: np.ndarray) -> float:
    return float(np.abs(found.numpy() - wanted).max() / np.abs(wanted).max())


@pytest.fixture(params=ROWS)
def row(request):
    return request.param


@pytest.fixture
def values(row, reference_values):
    return reference_values(f"protocols_{row.replace('-', '_')}")


def check(run, logits: np.ndarray, nfe: np.ndarray, tolerance: float = 1e-4) -> None:
    assert apart(run.logits, logits) < tolerance
    assert [int(block.work.nfe[0]) for block in run.blocks] == nfe.tolist()


def contrast_run(network, row: str, protocol: str, values, position: int, images):
    """Contrast c times the images, for a fixed T or with T-hat = c T in block 1."""
    contrast, time = float(values["contrast"][position]), float(values["T"])
    net = network(row, integration_time=time)
    if protocol == "scaled_T_block1":
        net = network(row, integration_time=(contrast * time, time, time))
    with torch.no_grad():
        return net.to(images.dtype).run(contrast * images)


@pytest.mark.parametrize("position", range(6))
@pytest.mark.parametrize("protocol", ["naive", "scaled_T_block1"])
def test_contrast(protocol, position, row, values, reference_network, reference_images):
    """Against the paper's code as far as that is from float64, where float32 norms at low contrast put it.

    torch's group norm loses digits where a channel's mean is large against its spread, up to 1.5e-3 of the logits at
    c = 0.06; the compiled engine's keeps them, and must stay within 1e-4 of float64 whatever the contrast.
    """
    wanted, nfe = values[f"{protocol}/logits"][position], values[f"{protocol}/nfe"][position]
    run = contrast_run(reference_network, row, protocol, values, position, reference_images)
    precise = contrast_run(reference_network, row, protocol, values, position, reference_images.double())
    theirs = apart(precise.logits, wanted)
    assert theirs < 2e-3
    check(run, wanted, nfe, theirs + 1e-4)
    if available():
        assert apart(run.logits, precise.logits.numpy()) < 1e-4


@pytest.mark.parametrize("mask", [(9, 23), (13, 19)])
def test_central_masks(mask, row, values, reference_network, reference_images):
    masked = reference_images.clone()
    masked[..., mask[0] : mask[1], mask[0] : mask[1]] = 0
    with torch.no_grad():
        run = reference_network(row).run(masked)
    name = f"mask_{mask[0]}_{mask[1]}"
    check(run, values[f"{name}/logits"], values[f"{name}/nfe"])


@pytest.fixture(scope="module")
def decoder(reference, reference_network):
    return load_decoder(reference / "decoder_dcn_ode.pth", reference_network("dcn-ode").spec)


def test_decoder_equals_the_papers_code(decoder, reference_values):
    values = reference_values("decoder_dcn_ode")
    with torch.no_grad():
        image, blocks = decoder.run(torch.from_numpy(values["encoder_output"]))
        precise, _ = copy.deepcopy(decoder).double().run(torch.from_numpy(values["encoder_output"]).double())
    theirs = apart(precise, values["decoder_output"])
    assert theirs < 5e-4
    assert apart(image, values["decoder_output"]) < theirs + 1e-4
    assert [int(block.work.nfe[0]) for block in blocks] == values["nfe"].tolist()


def test_decoders_loss_equals_the_papers_code(decoder, reference_network, reference_images, reference_values):
    values = reference_values("decoder_dcn_ode")
    with torch.no_grad():
        maps = encode(reference_network("dcn-ode"), reference_images)
        assert apart(maps, values["encoder_output"]) < 1e-4
        loss = nn.functional.mse_loss(rescaled(decoder(maps)), centre(reference_images))
    assert float(loss) == pytest.approx(float(values["loss_min_max_rescaled"]), rel=1e-4)


def test_decoders_output_does_not_depend_on_the_batch(decoder, reference_values):
    maps = torch.from_numpy(reference_values("decoder_dcn_ode")["encoder_output"])
    decoder.solver = dataclasses.replace(decoder.solver, stepping="per-image")
    with torch.no_grad():
        together, alone = decoder(maps[:3]), decoder(maps[1:2])
    assert float((together[1] - alone[0]).abs().max()) < 1e-5 * float(alone.abs().max())


def test_centre_is_cut_out():
    picture = torch.arange(32.0 * 32).reshape(1, 1, 32, 32)
    assert torch.equal(centre(picture), picture[..., 2:30, 2:30])


def test_blocks_of_the_decoder_are_the_encoders_in_reverse(decoder):
    widths = [block.field.norm1.num_channels for block in decoder.blocks if isinstance(block, ODEBlock)]
    assert widths == [128, 64]
