"""Convolutions in bfloat16 reach dense kernels alone, in training alone, forwards and backwards alike."""

from __future__ import annotations

import pytest
import torch

from dcnbio.model.convolution_precision import convolution_type, convolutions_in, convolve
from dcnbio.model.engine import available
from dcnbio.model.network import build
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.solver_settings import SolverSettings

ROUNDING = 2.0**-8  # of a product's factors; sums are kept in float32
STEPS = SolverSettings(method="midpoint", step_size=1.0, gradient="exact")
SMALL = {"widths": (8, 16), "norm_groups": 4}


def images(n: int = 4) -> torch.Tensor:
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def gradient(row: str, dtype: torch.dtype | None) -> torch.Tensor:
    """Give the gradient of the loss at a new network, its backward pass outside the block."""
    net = build(row, 0, **SMALL)
    with convolutions_in(dtype):
        logits = net.run(images(), STEPS).logits
    assert logits.dtype == torch.float32
    torch.nn.functional.cross_entropy(logits, torch.arange(4)).backward()
    return torch.cat([p.grad.reshape(-1) for p in net.parameters()])


def test_a_convolution_is_off_by_the_rounding_of_its_factors():
    random = torch.Generator().manual_seed(1)
    maps, kernel = torch.randn(2, 16, 9, 9, generator=random), torch.randn(8, 16, 3, 3, generator=random)
    bias = torch.randn(8, generator=random)
    exact = convolve(maps.double(), kernel.double(), bias.double(), padding=1)
    with convolutions_in(torch.bfloat16):
        found = convolve(maps, kernel, bias, padding=1)
    # each of 144 products is off by two roundings at the most, and the sum is rounded once
    products = convolve(maps.abs(), kernel.abs(), padding=1)
    most = 2 * ROUNDING * products + ROUNDING * (exact - bias.reshape(-1, 1, 1)).abs()
    error = (found - exact).abs()
    assert bool((error <= most).all())
    assert float(error.max()) > 1e-4, "nothing was rounded"


@pytest.mark.parametrize("row", ["resnet-blocks", "ode-net", "dcn-sigma-ji", "dcn-ode"])
def test_the_gradient_points_where_that_in_float32_does(row):
    full, rounded = gradient(row, None), gradient(row, torch.bfloat16)
    assert float(torch.nn.functional.cosine_similarity(full, rounded, dim=0)) > 0.99
    assert float((rounded.norm() / full.norm() - 1).abs()) < 0.05
    assert not torch.equal(full, rounded), f"no kernel of {row} was convolved in bfloat16"


@pytest.mark.skipif(not available(), reason="separable filters run in the compiled engine alone")
def test_separable_filters_keep_their_precision():
    """The transitions of dcn-ode alone have dense kernels: its first block is the same to the last bit."""
    net = build("dcn-ode", 0, **SMALL)
    with torch.no_grad():
        full = net.block(1).run(torch.ones(1, 8, 9, 9), STEPS)
        with convolutions_in(torch.bfloat16):
            rounded = net.block(1).run(torch.ones(1, 8, 9, 9), STEPS)
    assert torch.equal(rounded.final, full.final)


def test_a_convolution_keeps_its_own_settings():
    conv = PixelConv2d(4, 8, 3, padding=2, dilation=2, groups=2, padding_mode="circular")
    maps = torch.randn(2, 4, 9, 9, generator=torch.Generator().manual_seed(2))
    with torch.no_grad(), convolutions_in(torch.bfloat16):
        found = conv(maps)
    with torch.no_grad():
        torch.testing.assert_close(found, conv(maps), rtol=0, atol=0.05)


def test_outside_the_block_nothing_is_changed_even_after_an_error():
    with pytest.raises(RuntimeError), convolutions_in(torch.bfloat16):
        raise RuntimeError
    assert convolution_type() is None
