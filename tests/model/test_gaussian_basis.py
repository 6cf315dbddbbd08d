"""The N-jet's basis functions against the paper's code, SciPy, and the laws of Gaussian derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.model.gaussian import basis_orders, gaussian_taps, hermite, jet_basis, window_half_width
from dcnbio.model.scales import effective_sigma
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.srf_rule import ScaleRule

SIGMAS = (0.3, 0.5, 0.9, 1.0, 1.5, 2.28, 3.0)


def number(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def basis(sigma: float, order: int, half_width: int | None = None) -> np.ndarray:
    scale = number(sigma)
    half = int(window_half_width(scale)) if half_width is None else half_width
    return jet_basis(gaussian_taps(scale, order, half)).numpy()


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("order", [2, 3, 4])
def test_basis_equals_the_papers_code(sigma, order, reference_values):
    wanted = reference_values("basis")[f"shared/sigma{sigma}/order{order}"]
    found = basis(sigma, order)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_basis_of_channel_pairs_equals_the_papers_code(reference_values):
    values = reference_values("basis")
    sigma = torch.from_numpy(values["individual_7x7/sigma"])
    wanted = values["individual_7x7/basis"]  # [F, inputs, outputs, k, k]
    pairs = sigma.reshape(wanted.shape[1:3])
    found = jet_basis(gaussian_taps(pairs, 2, 3)).permute(2, 0, 1, 3, 4)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=1e-12)


def test_weighted_sum_of_channel_pairs_equals_the_papers_code(reference_values):
    values = reference_values("basis")
    wanted = values["individual_7x7/filter_alpha_i_over_10"]  # [outputs, inputs, k, k]
    inputs, outputs = wanted.shape[1], wanted.shape[0]
    conv = SRFConv2d(inputs, outputs, ScaleRule(per_pair=True)).double()
    with torch.no_grad():
        pairs = torch.from_numpy(values["individual_7x7/sigma"]).reshape(inputs, outputs)
        conv.log2_sigma.offset.copy_(pairs.log2())
        conv.alpha.offset.copy_((torch.arange(1, 7, dtype=torch.float64) / 10).reshape(6, 1, 1).expand(6, 3, 2))
        found = conv.kernel(number(0.0)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", range(21))
def test_hermite_equals_scipy(order):
    x = np.linspace(-3, 3, 25)
    wanted = scipy.special.eval_hermite(order, x)
    found = hermite(order, torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11 * np.abs(wanted).max())


def test_tenth_hermite_polynomial_at_one_is_exact():
    assert float(hermite(10, number(1.0))) == 8224  # H10 from a table: the public code's own formula gives -314336


def test_negative_orders_are_refused():
    with pytest.raises(InputError, match=r"order is -1; a Hermite polynomial has an order of 0 or more"):
        hermite(-1, number(1.0))
    with pytest.raises(InputError, match=r"kernel_order is -2; the N-jet's order is 0 or more"):
        basis_orders(-2)


@pytest.mark.parametrize("along", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (0, 2), (3, 1)])
def test_basis_filters_an_image_as_scipy_does(along):
    """SciPy derives the sampled Gaussian in the same way, and correlates where its filters are convolutions."""
    sigma, half = 1.7, 9
    image = np.random.default_rng(0).normal(size=(40, 40))
    wanted = scipy.ndimage.gaussian_filter(image, sigma, order=along, mode="constant", radius=half)
    index = basis_orders(sum(along)).index(along)
    kernel = basis(sigma, sum(along), half)[index] / sigma ** sum(along)
    found = scipy.signal.convolve2d(image, kernel, mode="same")
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def test_order_of_basis_functions_is_the_papers():
    assert basis_orders(2) == [(0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0)]


@given(order=st.integers(0, 8))
def test_there_are_all_pairs_up_to_the_order(order):
    pairs = basis_orders(order)
    assert len(pairs) == len(set(pairs)) == (order + 1) * (order + 2) // 2
    assert all(0 <= i + j <= order for i, j in pairs)


@given(sigma=st.floats(0.3, 5), order=st.integers(0, 5))
def test_basis_functions_are_separable(sigma, order):
    """Eq. 9: a matrix that is an outer product has rank one."""
    singular = np.linalg.svd(basis(sigma, order), compute_uv=False)
    assert (singular[:, 1] <= 1e-13 * singular[:, 0]).all()


@given(sigma=st.floats(0.3, 5), order=st.integers(0, 6))
def test_gaussian_sums_to_one_and_derivatives_are_even_or_odd(sigma, order):
    taps = gaussian_taps(number(sigma), order, int(window_half_width(number(sigma))))
    assert float(taps[0].sum()) == pytest.approx(1, abs=1e-14)
    signs = torch.tensor([(-1.0) ** n for n in range(order + 1)], dtype=torch.float64)
    assert torch.equal(taps.flip(-1), signs[:, None] * taps)


@given(theta=st.floats(0, 2 * math.pi), sigma=st.floats(1, 3))
def test_second_order_filter_turns_as_steering_says(theta, sigma):
    """Eq. 8, against the second derivative of the continuous Gaussian along the turned direction."""
    half = int(window_half_width(number(sigma), 5.0))
    functions = dict(zip(basis_orders(2), basis(sigma, 2, half), strict=True))
    c, s = math.cos(theta), math.sin(theta)
    steered = c * c * functions[2, 0] - 2 * c * s * functions[1, 1] + s * s * functions[0, 2]
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    u = c * y - s * x
    gauss = np.exp(-(x**2 + y**2) / (2 * sigma**2))
    turned = (u**2 / sigma**2 - 1) * gauss / gauss.sum()  # scale-normalised: sigma^2 times the second derivative
    np.testing.assert_allclose(steered, turned, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("first", "second"), [(1.2, 1.5), (2.0, 2.0), (1.2, 3.0)])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_smoothing_adds_variances(first, second, order):
    """Eq. 7, on the grid with a wide window and before scaling by sigma^n."""
    half = 25
    narrow = gaussian_taps(number(first), order, half)[order].numpy() / first**order
    smooth = gaussian_taps(number(second), 0, half)[0].numpy()
    both = math.hypot(first, second)
    wanted = gaussian_taps(number(both), order, 2 * half)[order].numpy() / both**order
    np.testing.assert_allclose(np.convolve(narrow, smooth), wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("sigma", "effective"), [(0.2, 0.0027), (0.3, 0.0876), (0.5, 0.4637), (1, 0.998), (2, 1.9515), (5, 4.6567)]
)
def test_effective_sigma_in_the_papers_window(sigma, effective):
    gauss = gaussian_taps(number(sigma), 0, window_half_width(number(sigma)))[0]
    assert float(effective_sigma(gauss)) == pytest.approx(effective, abs=5e-5)


@pytest.mark.parametrize(("sigma", "effective"), [(1, 0.998), (2, 1.641), (3, 1.835), (5, 1.9401)])
def test_effective_sigma_in_a_fixed_window(sigma, effective):
    assert float(effective_sigma(gaussian_taps(number(sigma), 0, 3)[0])) == pytest.approx(effective, abs=5e-5)


@pytest.mark.parametrize(("sigma", "size"), [(0.2, 3), (0.65, 5), (1.0, 7), (2.0, 11), (2.28, 13), (3.0, 15)])
def test_window_reaches_two_sigma(sigma, size):
    assert 2 * int(window_half_width(number(sigma))) + 1 == size


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf, 1e9])
def test_scales_that_no_kernel_can_have_are_refused(sigma):
    with pytest.raises(InputError, match=r"sigma is .* pixels; a scale is positive and under 1000 pixels"):
        window_half_width(number(sigma))


def test_windows_of_their_own_are_padded_with_zeros():
    sigmas = torch.tensor([0.65, 2.0], dtype=torch.float64)
    taps = gaussian_taps(sigmas, 2, window_half_width(sigmas))
    assert taps.shape == (2, 3, 11)
    assert torch.equal(taps[0, :, 3:8], gaussian_taps(sigmas[0], 2, 2))
    assert not taps[0, :, :3].any()
    assert not taps[0, :, 8:].any()
    assert torch.equal(taps[1], gaussian_taps(sigmas[1], 2, 5))


def test_gradient_of_taps_equals_finite_differences():
    sigma = torch.tensor([0.8, 1.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: gaussian_taps(s, 3, 5), sigma)
