from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from dcnbio.errors import InputError
from dcnbio.model.engine import separable_conv2d
from dcnbio.model.gaussian import basis_orders

pytestmark = pytest.mark.usefixtures("compiled")


def drawn(shape, order, size, out, dtype=torch.float64, seed=0):
    random = torch.Generator().manual_seed(seed)
    signs = torch.tensor([(-1.0) ** m for m in range(order + 1)], dtype=torch.float64).reshape(-1, 1)
    taps = torch.randn(order + 1, size, generator=random, dtype=torch.float64)
    functions = (order + 1) * (order + 2) // 2
    alphas = torch.randn(functions, shape[1], out, generator=random, dtype=torch.float64)
    maps = torch.randn(shape, generator=random, dtype=torch.float64)
    return maps.to(dtype), ((taps + signs * taps.flip(1)) / 2).to(dtype), alphas.to(dtype)


def direct(maps, taps, alphas, stride=1):
    along_y, along_x = (list(orders) for orders in zip(*basis_orders(len(taps) - 1), strict=True))
    kernel = torch.einsum("fio,fy,fx->oiyx", alphas, taps[along_y], taps[along_x])
    return functional.conv2d(maps, kernel, stride=stride, padding=taps.shape[1] // 2)


def difference(found, wanted):
    return float((found - wanted).abs().max() / wanted.abs().max())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize(
    ("channels", "side", "out", "stride"), [(3, 32, 32, 1), (32, 32, 64, 2), (64, 16, 128, 2), (32, 30, 32, 1)]
)
def test_layers_of_the_networks_equal_direct_convolution(channels, side, out, stride, dtype, tolerance):
    maps, taps, alphas = drawn((2, channels, side, side), 2, 9, out, dtype)
    found = separable_conv2d(maps, taps, alphas, stride)
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert difference(found, direct(maps, taps, alphas, stride)) < tolerance


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 20), st.integers(1, 12), st.integers(1, 12)),
    out=st.integers(1, 35),
    order=st.integers(0, 4),
    half=st.integers(0, 8),
    stride=st.integers(1, 3),
)
def test_any_shape_and_its_gradients_equal_direct_convolution(shape, out, order, half, stride):
    inputs = [tensor.requires_grad_() for tensor in drawn(shape, order, 2 * half + 1, out)]
    found, wanted = separable_conv2d(*inputs, stride), direct(*inputs, stride)
    assert found.shape == wanted.shape
    # an odd order alone on one pixel gives zero
    assert torch.allclose(found, wanted, rtol=1e-10, atol=1e-10)
    outside = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours, theirs = (torch.autograd.grad(result, inputs, outside) for result in (found, wanted))
    signs = torch.tensor([(-1.0) ** m for m in range(order + 1)], dtype=torch.float64).reshape(-1, 1)
    with_parity = (theirs[1] + signs * theirs[1].flip(1)) / 2  # the engine's filters cannot leave their parity
    for one, other in zip(ours, (theirs[0], with_parity, theirs[2]), strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-9 * float(other.abs().max() + 1))


def test_gradcheck_with_a_stride():
    inputs = [tensor.requires_grad_() for tensor in drawn((2, 3, 5, 4), 2, 5, 2)]
    assert torch.autograd.gradcheck(lambda *tensors: separable_conv2d(*tensors, 2), inputs)


def test_an_image_has_the_same_bits_in_any_batch_and_gradients_in_any_threads():
    maps, taps, alphas = (tensor.requires_grad_() for tensor in drawn((20, 8, 9, 9), 2, 5, 16, torch.float32))
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            whole = separable_conv2d(maps, taps, alphas)
            assert torch.equal(whole[7:9], separable_conv2d(maps[7:9], taps, alphas))
            results.append((whole, *torch.autograd.grad(whole.square().sum(), (maps, taps, alphas))))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_layers_that_do_not_fit_are_refused():
    maps, taps, alphas = drawn((2, 3, 5, 4), 2, 5, 2)
    with pytest.raises(InputError, match=r"stride is 0; it must be at least 1"):
        separable_conv2d(maps, taps, alphas, 0)
    with pytest.raises(InputError, match=r"taps has shape \(3, 4\)"):
        separable_conv2d(maps, taps[:, 1:], alphas)
    with pytest.raises(InputError, match=r"maps has shape \(2, 2, 5, 4\) and alphas \(6, 3, 2\)"):
        separable_conv2d(maps[:, 1:], taps, alphas)
    with pytest.raises(InputError, match=r"allowed is each \(k, l\)"):
        separable_conv2d(maps, taps, alphas, pairs=((0, 0),) * 6)
    with pytest.raises(InputError, match=r"the same for all"):
        separable_conv2d(maps.float(), taps, alphas)
