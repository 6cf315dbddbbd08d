"""Filters and scales of a sigma^{ji} network against plain numpy, written from the definitions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import integrate, stats

import dcnbio
from dcnbio.analysis.scales.distribution import shape_estimates
from dcnbio.analysis.scales.measures import filter_measures
from dcnbio.probe.filters import record_filters

ORDERS = ((0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0))
POINTS = 64


@pytest.fixture(scope="module")
def net() -> Any:
    built = dcnbio.build("dcn-sigma-ji", seed=1, widths=(8,), norm_groups=8)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        conv = built.block(1).field.conv1
        conv.log2_sigma.offset += 0.3 * torch.randn(conv.log2_sigma.offset.shape, generator=generator)
        conv.alpha.offset *= torch.exp(torch.randn(conv.alpha.offset.shape[1:], generator=generator))
    return built


@pytest.fixture(scope="module")
def kernels(net: Any) -> np.ndarray:
    """Dense kernels of the maps' filters, (input, output, y, x), one by one."""
    conv = net.block(1).field.conv1
    alpha = conv.alpha.offset.detach().double().numpy()[:, 1:]
    sigma = 2 ** conv.log2_sigma.offset.detach().double().numpy()[1:]
    found = np.zeros((*sigma.shape, 7, 7))
    x = np.arange(-3, 4)
    for place in np.ndindex(sigma.shape):
        s = sigma[place]
        gauss = np.exp(-(x**2) / (2 * s**2))
        gauss /= gauss.sum()
        lines = gauss, -x / s * gauss, (x**2 / s**2 - 1) * gauss
        for weight, (a, b) in zip(alpha[:, *place], ORDERS, strict=True):
            found[place] += weight * np.outer(lines[a], lines[b])
    return found


@pytest.fixture(scope="module")
def measures(net: Any) -> Any:
    return filter_measures(record_filters(net)["block1_conv1"].to_dataset())


def test_filters_are_measured_as_their_dense_kernels_are(measures: Any, kernels: np.ndarray) -> None:
    found = measures.transpose("input", "output", ...)
    energy = (kernels**2).sum((2, 3))
    np.testing.assert_allclose(found["energy"], energy, rtol=1e-5)
    turned = kernels[:, :, ::-1, ::-1]
    np.testing.assert_allclose(found["odd"], ((kernels - turned) ** 2).sum((2, 3)) / 4 / energy, atol=1e-5)
    response = np.abs(np.fft.fft2(kernels, (POINTS, POINTS)))
    v, u = np.meshgrid(np.fft.fftfreq(POINTS), np.fft.fftfreq(POINTS), indexing="ij")
    radius = np.hypot(u, v)
    centroid = (response**2 * radius).sum((2, 3)) / (response**2).sum((2, 3))
    np.testing.assert_allclose(found["centroid_frequency"], centroid, rtol=1e-5)
    largest = response.max((2, 3))
    at_zero = np.abs(kernels.sum((2, 3))) / largest
    np.testing.assert_allclose(found["response_at_zero"], at_zero, atol=1e-5)
    # where two frequencies respond alike to rounding either may be named
    named = response >= (1 - 1e-6) * largest[:, :, None, None]
    peaks = np.abs(found["peak_frequency"].values[:, :, None, None] - radius) < 1e-9
    assert (named & peaks).any((2, 3)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_distribution_is_described_as_by_hand(measures: Any, weighted: bool) -> None:
    sigma, energy = measures["sigma"].values, measures["energy"].values
    found = shape_estimates(sigma, np.random.default_rng(0), 99, energy if weighted else None)
    order = np.argsort(sigma.ravel())
    values = sigma.ravel()[order]
    share = (energy.ravel() if weighted else np.ones(values.size))[order]
    share = share / share.sum()
    logs = np.log2(values)
    mean = (share * logs).sum()
    sd = np.sqrt((share * (logs - mean) ** 2).sum())
    centred = values - (share * values).sum()
    skewness = (share * centred**3).sum() / (share * centred**2).sum() ** 1.5
    fitted, upto = stats.norm.cdf((logs - mean) / sd), np.cumsum(share)
    largest = max((upto - fitted).max(), (fitted - upto + share).max())
    at = np.linspace(logs[0] - 4, logs[-1] + 4, 200_001)
    steps = np.concatenate([[0.0], upto])[np.searchsorted(logs, at, side="right")]
    moved = integrate.trapezoid(np.abs(steps - stats.norm.cdf((at - mean) / sd)), at)
    expected = {"log2_mean": mean, "log2_sd": sd, "skewness": skewness, "largest": largest}
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value), name
    assert found["moved"].value == pytest.approx(moved, rel=0.08)  # 64 values: straight between neighbours
