"""Table 3's loss against the paper's own code."""

import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder, load_decoder
from dcnbio.probe.reconstruction import reconstruction_loss


def test_the_rescaled_loss_is_that_of_the_papers_code(reference, reference_network, reference_images, reference_values):
    net = reference_network("dcn-ode")
    decoder = load_decoder(reference / "decoder_dcn_ode.pth", net.spec)
    found = reconstruction_loss(net, decoder, reference_images)
    expected = float(reference_values("decoder_dcn_ode")["loss_min_max_rescaled"])
    assert float(found["rescaled_mse"][0]) == pytest.approx(expected, rel=1e-4)
    assert found["mse"].sizes == {"stimulus": 8}


def test_a_decoder_of_a_constant_errs_by_that_much():
    net = dcnbio.build("dcn-ode", widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    decoder = build_decoder(net.spec)
    with torch.no_grad():
        decoder.colour.weight.zero_()
        decoder.colour.bias.fill_(0.25)
    grey = torch.full((3, 3, 32, 32), 0.75)
    found = reconstruction_loss(net, decoder, grey + torch.arange(3.0).reshape(3, 1, 1, 1) / 10)
    assert found["mse"].values == pytest.approx([0.25, 0.36, 0.49], rel=1e-5)
    assert found["variance"].values == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_decoder_of_another_network_is_refused():
    net = dcnbio.build("dcn-ode", widths=(4, 4, 8), norm_groups=4)
    other = build_decoder(dcnbio.build("dcn-ode", widths=(4, 8, 8), norm_groups=4).spec)
    with pytest.raises(InputError, match="give the encoder it was trained on"):
        reconstruction_loss(net, other, dcnbio.load_images(limit=1))
