"""What dcnbio.save writes gives the same network back, or nothing is written."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint, save_decoder
from dcnbio.model.interventions import (
    freeze_norms,
    freeze_time,
    hold_norms,
    lend_norms,
    scale_sigma,
    silence_orders,
)
from dcnbio.model.network import Network, build

SPECS = {"dcn-ode": {}, "dcn-sigma-t": {}, "ode-net": {}, "resnet-srf-blocks": {}}
INTERVENTIONS: dict[str, Callable[[Network], Network]] = {
    "freeze_norms": lambda net: freeze_norms(net, images(), 3),
    "hold_norms": hold_norms,
    "lend_norms": lambda net: lend_norms(net, 2),
    "freeze_time at 0": freeze_time,
    "freeze_time at 0.5": lambda net: freeze_time(net, 0.5),
    "scale_sigma": lambda net: scale_sigma(net, 1.5),
    "silence_orders": lambda net: silence_orders(net, [1]),
}


def small(row: str = "dcn-ode", **options) -> Network:
    time = {} if row.startswith("resnet") else {"integration_time": 0.3}
    return build(row, widths=(4, 8), norm_groups=2, **{**time, **options})


def images() -> Tensor:
    return torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


class Own(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return self.norm(self.conv(torch.tanh(h)))


class Tied(Own):
    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.again = nn.Conv2d(channels, channels, 3, padding=1)
        self.again.weight = self.conv.weight

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return self.norm(self.again(torch.tanh(self.conv(h))))


class Counted(Own):
    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.register_buffer("count", torch.tensor(2**24 + 1))


def refused_or_same(net: Network, path, **how) -> bool:
    """Whether it was saved; what was saved has to come back as it was."""
    try:
        dcnbio.save(net, path)
    except InputError as error:
        assert "cannot be saved: " in str(error)  # noqa: PT017
        assert "change it again once it is loaded" in str(error)  # noqa: PT017
        assert not path.exists()
        return False
    with torch.no_grad():
        assert torch.equal(dcnbio.load(path, **how)(images()), net(images()))
    return True


@pytest.mark.parametrize("row", [*SPECS, "own"])
@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_a_changed_network_comes_back_as_it_was_or_is_refused(tmp_path, row, intervention):
    net = small(vector_field=Own) if row == "own" else small(row)
    try:
        changed = INTERVENTIONS[intervention](net)
    except InputError:
        pytest.skip("this row cannot be changed so")
    saved = refused_or_same(changed, tmp_path / "net.safetensors", **({"vector_field": Own} if row == "own" else {}))
    in_weights = intervention in ("scale_sigma", "silence_orders")
    still = intervention == "freeze_time at 0" and row in ("dcn-ode", "ode-net")
    assert saved == (in_weights or still)


def wider_norm(net: Network) -> None:
    net.transitions[0].norm.eps = 0.1


def other_stride(net: Network) -> None:
    net.transitions[0].conv.stride = (1, 1)


def other_activation(net: Network) -> None:
    net.blocks[0].field.activation = torch.tanh


def module_in_place_of_a_function(net: Network) -> None:
    net.readout.activation = nn.SiLU()


def other_window(net: Network) -> None:
    net.blocks[1].field.conv1.rule = build("dcn-ode", window=3.0).blocks[0].field.conv1.rule


def other_field(net: Network) -> None:
    net.blocks[0].field = Own(4)


def own_forward(net: Network) -> None:
    net.stem.forward = lambda x: -nn.functional.conv2d(x, net.stem.weight)


def a_bias_taken_away(net: Network) -> None:
    net.stem.bias = None


def classes_added(net: Network) -> None:
    net.readout.linear = nn.Linear(8, 11)


def pruned(net: Network) -> None:
    prune.l1_unstructured(net.readout.linear, "weight", 0.5)


def weight_normed(net: Network) -> None:
    parametrizations.weight_norm(net.readout.linear)


CHANGES = {
    wider_norm: r"transitions.0.norm.eps is 0.1, not 1e-05",
    other_stride: r"transitions.0.conv.stride is \(1, 1\), not \(2, 2\)",
    other_activation: r"blocks.0.field.activation is .*tanh",
    module_in_place_of_a_function: r"readout.activation",
    other_window: r"blocks.1.field.conv1.rule is ScaleRule\(.*extent=3.0",
    other_field: r"blocks.0.field is a Own, not a ConvField",
    own_forward: r"stem.forward is .*, in the place of the class's own",
    a_bias_taken_away: r"stem.bias is not there",
    classes_added: r"readout.linear.out_features is 11, not 10",
    pruned: r"readout.linear",
    weight_normed: r"readout.linear is a ParametrizedLinear, not a Linear",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_spec_and_weights_do_not_say_is_refused_by_name(tmp_path, change):
    net = small()
    change(net)
    with pytest.raises(InputError, match=rf"^this dcn-ode cannot be saved: {CHANGES[change]}"):
        dcnbio.save(net, tmp_path / "net.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_block_that_has_no_field_of_the_spec_is_refused_beside_own_ones(tmp_path):
    net = small(vector_field=Own)
    net.transitions[0].norm = nn.GroupNorm(4, 4)
    with pytest.raises(InputError, match=r"transitions.0.norm.num_groups is 4, not 2"):
        dcnbio.save(net, tmp_path / "net.safetensors")


@pytest.mark.parametrize("maker", [Own, Tied, Counted])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_own_fields_come_back_in_their_type(tmp_path, maker, dtype):
    net = small(vector_field=maker).to(dtype)
    again = dcnbio.load(dcnbio.save(net, tmp_path / "net.safetensors"), vector_field=maker)
    kinds = [{name: value.dtype for name, value in one.state_dict().items()} for one in (net, again)]
    assert kinds[0] == kinds[1]
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in net.state_dict().items())
    assert torch.equal(again(images().to(dtype)), net(images().to(dtype)))


def test_tied_weights_are_written_apart_and_tied_again(tmp_path):
    field = Own(4)
    net = build("dcn-ode", widths=(4, 4), norm_groups=2, integration_time=0.2, vector_field=[field, field])
    assert refused_or_same(net, tmp_path / "shared.safetensors", vector_field=[Own(4), Own(4)])
    tied = small(vector_field=Tied)
    again = dcnbio.load(dcnbio.save(tied, tmp_path / "tied.safetensors"), vector_field=Tied)
    assert again.blocks[0].field.again.weight is again.blocks[0].field.conv.weight


def test_mixed_types_are_refused(tmp_path):
    net = small()
    net.readout.double()
    with pytest.raises(InputError, match=r"weights are of float32 and float64, .* use its float\(\)"):
        dcnbio.save(net, tmp_path / "net.safetensors")


def test_numbers_of_numpy_are_plain_in_spec_and_file(tmp_path):
    net = small(kernel_order=np.int64(1), window=np.float32(3.0), classes=np.int32(4), vector_field=Own)
    path = dcnbio.save(net, tmp_path / "net.safetensors")
    with safe_open(path, framework="pt") as file:
        spec = json.loads(file.metadata()["header"])["spec"]
    assert (spec["kernel_order"], spec["window"], spec["classes"]) == (1, 3.0, 4)
    assert dcnbio.load(path, vector_field=Own).spec == net.spec


def test_a_decoder_comes_back_as_it_was_or_is_refused(tmp_path):
    decoder = build_decoder(small().spec)
    again = load_decoder_checkpoint(save_decoder(decoder.double(), tmp_path / "back.safetensors"))
    maps = torch.rand(1, 8, 7, 7, generator=torch.Generator().manual_seed(0)).double()
    assert torch.equal(again(maps), decoder(maps))
    changed = copy.deepcopy(decoder)
    changed.blocks[0].integration_time = 0.1
    with pytest.raises(InputError, match=r"^this decoder cannot be saved: blocks.0.integration_time is 0.1, not 0.3"):
        save_decoder(changed, tmp_path / "changed.safetensors")


@pytest.mark.parametrize("wrap", [copy.deepcopy, lambda net: net.requires_grad_(False), nn.Module.train])
def test_what_is_no_part_of_the_network_is_no_difference(tmp_path, wrap):
    net = wrap(small())
    net.solver = dcnbio.SolverSettings(rtol=1e-4)
    net.note = "mine"
    assert dcnbio.save(net, tmp_path / "net.safetensors").exists()
