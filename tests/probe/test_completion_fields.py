"""Completion of three built fields, whose answers are known: true completion, collapse, and a common drift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dcnbio
from dcnbio.analysis.completion.conditions import main_mask
from dcnbio.analysis.completion.index import completion_index
from dcnbio.analysis.completion.paper_measure import difference_fall
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.analysis.completion.verdict import block_verdict
from dcnbio.images import mask_images
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.recording.reductions import group_normalised

WIDTH, GROUPS, IMAGES, T = 4, 2, 8, 1.5
SMALL = CompletionSettings(masks=(14,), controls=False, times=3, rtol=1e-6, atol=1e-6)
RESAMPLER = Resampler(0, 199)


class Completing(nn.Module):
    """h' = -rate (I - P) h with P onto the span of given maps."""

    def __init__(self, maps: Tensor, rate: float = 1.0) -> None:
        super().__init__()
        basis = torch.linalg.qr(maps.flatten(1).double().T).Q
        self.register_buffer("basis", basis.to(maps.dtype))
        self.rate = rate

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        rows = h.flatten(1)
        return -self.rate * (rows - rows @ self.basis @ self.basis.T).reshape(h.shape)


class Collapsing(nn.Module):
    """h' = -h."""

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return -h


class Drifting(nn.Module):
    """h' = c: all maps move together."""

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return torch.full_like(h, 2.0)


@pytest.fixture(scope="module")
def shown() -> np.ndarray:
    return np.random.default_rng(3).random((IMAGES, 3, 32, 32), dtype=np.float32)


def network(field: nn.Module) -> Any:
    return dcnbio.build("dcn-ode", vector_field=field, widths=(WIDTH,), norm_groups=GROUPS, integration_time=T)


def stem_maps(images: np.ndarray) -> Tensor:
    with torch.no_grad():
        maps: Tensor = network(Collapsing()).stem(torch.from_numpy(images))
    return maps


def test_a_projecting_field_completes_at_its_rate(shown: np.ndarray) -> None:
    intact, masked = stem_maps(shown), stem_maps(mask_images(shown, 14))
    data = completion_experiment(network(Completing(intact)), shown, SMALL)["flow"]
    field = Completing(intact)
    inside = (masked.flatten(1) @ field.basis @ field.basis.T).reshape(masked.shape)
    whole = group_normalised(intact.numpy(), GROUPS)
    for place, fraction in enumerate((0.0, 0.5, 1.0)):
        # the part outside the span decays as exp(-t), the rest stays
        state = inside + np.exp(-fraction * T) * (masked - inside)
        change = group_normalised(state.numpy(), GROUPS) - whole
        found = data["distance"].sel(condition="mask 14", block=1, region="whole").values[:, place]
        np.testing.assert_allclose(found, np.sqrt((change**2).sum((1, 2, 3))), rtol=1e-4)
    index = completion_index(data, main_mask(data), 1, RESAMPLER)
    assert index.above_zero
    assert index.value > 0.3


def test_a_collapsing_field_completes_nothing(shown: np.ndarray) -> None:
    data = completion_experiment(network(Collapsing()), shown, SMALL)["flow"]
    index = completion_index(data, main_mask(data), 1, RESAMPLER)
    assert abs(index.value) < 1e-3
    assert not block_verdict(data, 1, RESAMPLER).claimed
    # while h itself shrinks
    fall = float(
        data["amplitude"].sel(condition="intact").isel(time=-1).sum() / data["amplitude"].isel(time=0)[0].sum()
    )
    assert fall == pytest.approx(np.exp(-T), rel=1e-3)


def test_a_common_drift_lets_the_papers_measure_fall_and_completes_nothing(shown: np.ndarray) -> None:
    data = completion_experiment(network(Drifting()), shown, SMALL)["flow"]
    found = difference_fall(data, main_mask(data), 1, RESAMPLER)
    assert found.fall.value < 0.5
    assert found.fall.value == pytest.approx(found.null.value, rel=1e-4)
    assert difference_fall(data, main_mask(data), 1, RESAMPLER, "A(0)").fall.value == pytest.approx(1, rel=1e-4)
    assert abs(completion_index(data, main_mask(data), 1, RESAMPLER).value) < 1e-4
    assert not block_verdict(data, 1, RESAMPLER).claimed


def test_the_twin_without_time_keeps_every_distance(shown: np.ndarray) -> None:
    still = completion_experiment(network(Collapsing()), shown, SMALL)["no time"]
    np.testing.assert_array_equal(still["distance"].isel(time=0), still["distance"].isel(time=-1))
    assert completion_index(still, main_mask(still), 1, RESAMPLER).value == 0


def test_the_euler_twin_is_one_step(shown: np.ndarray) -> None:
    stepped = completion_experiment(network(Collapsing()), shown, SMALL)["one Euler step"]
    amplitude = stepped["amplitude"].sel(condition="intact", block=1)
    # h - T h, and T is 1.5
    np.testing.assert_allclose(amplitude.isel(time=-1), 0.5 * amplitude.isel(time=0), rtol=1e-5)
