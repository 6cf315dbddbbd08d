"""Filters from alpha: taps, energy, window, shape and frequency against the kernels that the network itself builds."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import ndimage

from dcnbio.analysis.filters.energy import energy_cut, filter_energy
from dcnbio.analysis.filters.frequency_response import frequency_response
from dcnbio.analysis.filters.kinds import KINDS, sort_filters
from dcnbio.analysis.filters.sampled_gaussian import basis_orders, effective_sigma, half_width, sampled_taps
from dcnbio.analysis.filters.steering import angular_frequencies, angular_part, orientation
from dcnbio.errors import InputError
from dcnbio.model.gaussian import basis_orders as model_orders
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.srf_rule import ScaleRule

REFERENCE = Path(__file__).parents[1] / "reference"


def layer(rule, sigma, inputs=5, outputs=4, seed=0):
    """A convolution with random alpha, and its kernels as (input, output, y, x)."""
    conv = SRFConv2d(inputs, outputs, rule).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        conv.alpha.offset.normal_(generator=generator)
        conv.log2_sigma.offset.copy_(torch.as_tensor(np.log2(sigma)))
        kernel = conv.kernel(torch.zeros((), dtype=torch.float64)).permute(1, 0, 2, 3).numpy()
    return conv.alpha.offset.detach().numpy(), kernel


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_basis_functions_come_in_the_networks_order(order):
    assert basis_orders(len(model_orders(order))) == model_orders(order)


def test_an_incomplete_jet_is_refused():
    with pytest.raises(InputError, match="alpha has 5 basis functions; an N-jet has"):
        basis_orders(5)


def test_taps_are_those_of_the_reference_files():
    with np.load(REFERENCE / "basis.npz") as file:
        names = [name for name in file.files if name.startswith("shared/") and name.endswith("order2")]
        assert names
        for name in names:
            sigma = float(name.split("/")[1].removeprefix("sigma"))
            taps = sampled_taps(sigma, 2, int(half_width(sigma, 2)))
            basis = np.stack([np.outer(taps[y], taps[x]) for y, x in basis_orders(6)])
            assert basis == pytest.approx(file[name], abs=1e-12)


@pytest.mark.parametrize(
    ("sigma", "expected"), [(0.2, 0.0027), (0.3, 0.0876), (0.5, 0.4637), (1, 0.998), (2, 1.9515), (5, 4.6567)]
)
def test_effective_sigma_of_the_papers_window(sigma, expected):
    assert float(effective_sigma(sigma, half_width(sigma, 2))) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("sigma", "expected"), [(1, 0.998), (2, 1.641), (3, 1.835), (5, 1.9401)])
def test_effective_sigma_of_the_fixed_window(sigma, expected):
    assert float(effective_sigma(sigma, 3)) == pytest.approx(expected, abs=1e-4)


def test_energy_is_that_of_the_networks_kernels():
    alpha, kernel = layer(ScaleRule(), 1.3)
    taps = sampled_taps(1.3, 2, int(half_width(1.3, 2)))
    assert filter_energy(alpha, taps) == pytest.approx((kernel**2).sum((2, 3)))
    sigma = np.random.default_rng(0).uniform(0.5, 3, size=(5, 4))
    alpha, kernel = layer(ScaleRule(per_pair=True), sigma)
    assert filter_energy(alpha, sampled_taps(sigma, 2, 3)) == pytest.approx((kernel**2).sum((2, 3)))


def test_energy_cut_by_building_the_wide_filter():
    sigma = np.random.default_rng(0).uniform(0.5, 4, size=(5, 4))
    alpha, _ = layer(ScaleRule(per_pair=True), sigma)
    wide = sampled_taps(sigma, 2, 3, reach=40)
    kernel = sum(
        alpha[f][..., None, None] * wide[..., y, :, None] * wide[..., x, None, :]
        for f, (y, x) in enumerate(basis_orders(6))
    )
    kept = (kernel[..., 37:44, 37:44] ** 2).sum((2, 3)) / (kernel**2).sum((2, 3))
    assert energy_cut(alpha, sigma, np.full((5, 4), 3)) == pytest.approx(1 - kept, abs=1e-9)


def test_filters_of_zeros_have_an_answer():
    alpha, taps = np.zeros((6, 2, 3)), sampled_taps(1.0, 2, 3)
    found = sort_filters(alpha, taps)
    assert {KINDS[k] for k in found.kind.ravel()} == {"none"}
    assert np.isnan(found.orientation).all()
    assert (energy_cut(alpha, np.array(1.0), np.array(3)) == 0).all()
    response = frequency_response(alpha, taps)
    assert np.isnan(response.peak).all()
    assert (response.spectrum == 0).all()


@pytest.mark.parametrize("per_pair", [False, True])
def test_frequency_response_is_the_kernels_fourier_transform(per_pair):
    sigma = np.random.default_rng(1).uniform(0.6, 2.5, size=(5, 4)) if per_pair else np.array(1.1)
    alpha, kernel = layer(ScaleRule(per_pair=per_pair), sigma)
    taps = sampled_taps(sigma, 2, np.full((5, 4), 3) if per_pair else int(half_width(sigma, 2)))
    found = frequency_response(alpha, taps)
    power = np.abs(np.fft.fft2(kernel, (64, 64))) ** 2
    v, u = np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64), indexing="ij")
    radius = np.hypot(v, u)
    assert found.peak.ravel() == pytest.approx(radius.ravel()[power.reshape(20, -1).argmax(1)])
    assert found.centroid == pytest.approx((power * radius).sum((2, 3)) / power.sum((2, 3)))
    assert found.at_zero == pytest.approx(np.sqrt(power[..., 0, 0] / power.max((2, 3))))
    bins = np.rint(radius * 64).astype(int)
    mean = power.mean((0, 1))
    assert found.spectrum == pytest.approx(
        [mean[bins == b].mean() if (bins == b).any() else 0 for b in range(bins.max() + 1)]
    )


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_angular_parts_sum_to_the_filter_and_are_projections(order):
    alpha = np.random.default_rng(0).normal(size=(len(model_orders(order)), 7))
    parts = [angular_part(alpha, m) for m in angular_frequencies(len(alpha))]
    assert sum(parts) == pytest.approx(alpha)
    for m, part in enumerate(parts):
        assert angular_part(part, m) == pytest.approx(part)


def test_a_turned_part_repeats_after_its_period():
    """Turning a filter by 360 / m degrees leaves its part of angular frequency m: on fine samples of the plane."""
    alpha = np.random.default_rng(2).normal(size=(10, 1))
    taps = sampled_taps(8.0, 3, 40)
    for m in (1, 2, 3):
        part = angular_part(alpha, m)[:, 0]
        image = sum(a * np.outer(taps[y], taps[x]) for a, (y, x) in zip(part, basis_orders(10), strict=True))
        turned = ndimage.rotate(image, 360 / m, reshape=False, order=5)
        half = ndimage.rotate(image, 180 / m, reshape=False, order=5)
        assert turned == pytest.approx(image, abs=1e-3 * np.abs(image).max())
        assert half == pytest.approx(-image, abs=1e-3 * np.abs(image).max())


@pytest.mark.parametrize("angle", [0.0, 10.0, 45.0, 89.0, 120.0, 179.0])
def test_orientation_agrees_with_the_fourier_peak(angle):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    bar, edge = np.array([c * c, 0, 0, 2 * c * s, 0, s * s]), np.array([0, c, 0, 0, s, 0])
    alpha = np.stack([bar, -bar, edge, -edge], axis=1)[:, None, :]
    taps = sampled_taps(1.5, 2, 8)
    kinds, response = sort_filters(alpha, taps), frequency_response(alpha, taps)
    assert [KINDS[k] for k in kinds.kind[0]] == ["even", "even", "odd", "odd"]
    apart = np.abs((kinds.orientation - angle + 90) % 180 - 90)
    assert (apart < 1e-6).all()
    seen = np.abs((response.direction - angle + 90) % 180 - 90)
    assert (seen < 8).all()  # the grid of frequencies has few directions near the peak


def test_surrounds_are_told_from_blobs():
    blob, surround, weak = [0, 0, 1, 0, 0, 0], [-1, 0, 1, 0, 0, -1], [0.001, 0, 1, 0, 0, 0.001]
    found = sort_filters(np.array([blob, surround, weak], dtype=float).T[:, None, :], sampled_taps(1.0, 2, 3))
    assert [KINDS[k] for k in found.kind[0]] == ["blob", "centre-surround", "blob"]
    assert np.isnan(found.orientation).all()


def test_shares_sum_to_1_on_the_pixel_grid():
    alpha, kernel = layer(ScaleRule(), 0.8)
    taps = sampled_taps(0.8, 2, int(half_width(0.8, 2)))
    parts = [filter_energy(angular_part(alpha, m), taps) for m in (0, 1, 2)]
    assert sum(parts) == pytest.approx((kernel**2).sum((2, 3)))


def test_orientation_of_nothing_is_not_a_number():
    assert np.isnan(orientation(np.zeros((6, 1)), 1)).all()
    assert np.isnan(orientation(np.zeros((6, 1)), 2)).all()


def test_energy_cut_filter_by_filter_is_that_of_all_together():
    rng = np.random.default_rng(0)
    alpha, sigma = rng.normal(size=(6, 9, 8)), 2 ** rng.normal(0, 1, size=(9, 8))
    half = np.full(sigma.shape, 3)
    found = energy_cut(alpha, sigma, half)
    for i, o in np.ndindex(sigma.shape):
        alone = energy_cut(alpha[:, i, o, None, None], np.array(sigma[i, o]), np.array(3))
        assert found[i, o] == pytest.approx(float(alone[0, 0]), abs=1e-12)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_one_wide_filter_costs_no_memory_for_the_others():
    code = """
import re, numpy as np
from dcnbio.analysis.filters.energy import energy_cut
sigma = np.ones((129, 128)); sigma[5, 6] = 500.0
energy_cut(np.ones((6, 129, 128)), sigma, np.full(sigma.shape, 3))
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 250_000  # all filters as wide as that one would take 3 GB for one array
