"""Reconstructions: the decoder's own output, its error against the pixels it is of, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder, encode
from dcnbio.probe.reconstructed_images import reconstruct

SMALL = {"widths": (4, 8, 16), "norm_groups": 4, "integration_time": 0.1}


@pytest.fixture(scope="module")
def net():
    return dcnbio.build("dcn-ode", **SMALL)


def test_it_is_what_the_decoder_gives_and_the_error_is_over_the_central_pixels(net):
    decoder, data = build_decoder(net.spec), dcnbio.load_images(limit=10)
    found = reconstruct(net, decoder, data)
    with torch.no_grad():
        expected = decoder(encode(net, torch.from_numpy(data["image"].values))).numpy()
    np.testing.assert_array_equal(found["reconstruction"], expected)
    pixels = data["image"].values[:, :, 2:30, 2:30]
    np.testing.assert_array_equal(found["image"], pixels)
    np.testing.assert_allclose(found["mse"], ((expected - pixels) ** 2).mean((1, 2, 3)), rtol=1e-5)
    assert found["stimulus"].values.tolist() == data["stimulus"].values.tolist()


def test_a_decoder_of_another_network_is_refused(net):
    other = build_decoder(dcnbio.build("dcn-ode", **{**SMALL, "widths": (4, 8, 8)}).spec)
    with pytest.raises(InputError, match=r"decoder is of a network with widths \(4, 8, 8\), but net has \(4, 8, 16\)"):
        reconstruct(net, other, dcnbio.load_images(limit=2))
