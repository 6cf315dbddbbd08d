"""Plaids and surrounds suppress built networks by what their norm makes of them, and not at all with it held."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dcnbio.analysis.responses.interaction_measures import interaction_measures
from dcnbio.errors import InputError
from dcnbio.model.gaussian import gaussian_taps
from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.responses.interactions import InteractionStimuli, record_interactions
from dcnbio.probe.responses.own_stimuli import OwnGratings
from dcnbio.probe.responses.units import UnitSettings

SIGMA = 0.6
TAPS = gaussian_taps(torch.tensor(SIGMA, dtype=torch.float64), 0, 4)[0]


class NormField(nn.Module):
    """h_1 stands still; h_2' = Gnorm(G * h_1) on a torus, or G * h_1 itself."""

    def __init__(self, normalised: bool) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, 1, eps=1e-12) if normalised else nn.Identity()

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return torch.cat([torch.zeros_like(h[:, :1]), self.norm(blurred(h[:, :1]))], 1)


def blurred(maps: Tensor) -> Tensor:
    taps = TAPS.to(maps)
    for kernel, pad in ((taps[None, :], (4, 4, 0, 0)), (taps[:, None], (0, 0, 4, 4))):
        maps = nn.functional.conv2d(nn.functional.pad(maps, pad, mode="circular"), kernel[None, None])
    return maps


@torch.no_grad()
def network(normalised):
    field = NormField(normalised)
    net = build("dcn-ode", widths=(2,), integration_time=1.0, norm_groups=2, vector_field=field).double()
    net.stem.weight.zero_()
    net.stem.bias.zero_()
    net.stem.weight[0, :, 1, 1] = 1 / 3
    net.solver = SolverSettings(method="rk4", step_size=1.0)  # the slope does not depend on h_2: one step is exact
    return net


def own(units=2):
    return OwnGratings(*(np.full(units, value) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))


def recorded(normalised, diameter=8.0):
    stimuli = InteractionStimuli(np.full(2, diameter), contrast=0.4, phases=4)
    return stimuli, record_interactions(network(normalised), own(), stimuli, UnitSettings())


def by_hand(images: np.ndarray) -> float:
    """What the norm makes of the blurred image at the unit's pixel (16, 16), mean over the mask's phases."""
    # the stem takes the border away before the norm sees the map; the blank is grey
    maps = blurred(torch.from_numpy(images[:, :1, 1:-1, 1:-1]).double())
    above = maps[:, 0, 15, 15] - maps.mean((1, 2, 3))
    return float((above / maps.std(correction=0, dim=(1, 2, 3))).mean())


def test_a_norm_suppresses_by_the_standard_deviation_that_mask_and_surrounds_add():
    stimuli, recording = recorded(True)
    found = interaction_measures(recording, "h_change")
    r = {name: by_hand(stimuli.images(own(), 0, name)) for name in recording["condition"].values}
    expected = {
        "cross_orientation": 1 - r["plaid"] / r["grating"],
        "iso_surround": 1 - r["iso_surround"] / r["centre"],
        "cross_surround": 1 - r["cross_surround"] / r["centre"],
    }
    for name, value in expected.items():
        assert found[f"{name}_suppression"][1] == pytest.approx(value, abs=1e-4), name
    # by hand: a mask of equal contrast doubles the variance, but for the odd half period of a 30 x 30 map
    assert expected["cross_orientation"] == pytest.approx(1 - 1 / math.sqrt(2), abs=0.015)
    assert expected["iso_surround"] > 0.7
    assert found["surround_orientation_difference"][1] == pytest.approx(0, abs=0.02)  # a norm knows no orientation


def test_with_the_single_gratings_statistics_held_nothing_suppresses():
    _, recording = recorded(True)
    found = interaction_measures(recording, "h_change")
    for name in ("cross_orientation", "iso_surround", "cross_surround"):
        assert found[f"{name}_suppression_held"][1] == pytest.approx(0, abs=1e-3)
    for name in ("grating", "centre"):  # shown what its statistics are of, the held network is the network
        free, held = (recording[key].sel(condition=name).values[1] for key in ("h_change", "h_change_held"))
        assert held == pytest.approx(free, rel=1e-9)


def test_without_a_norm_held_and_free_agree_and_nothing_suppresses():
    _, recording = recorded(False)
    np.testing.assert_allclose(recording["h_change"].values, recording["h_change_held"].values, atol=1e-9)
    found = interaction_measures(recording, "h_change")
    assert found["cross_orientation_suppression"][1] == pytest.approx(0, abs=1e-6)
    assert np.isnan(found["cross_orientation_suppression"][0])  # the channel that stands still is silent


def test_wrong_interactions_are_refused():
    with pytest.raises(InputError, match=r"contrast is 0\.7; test and mask add, so give more than 0 and at most 0.5"):
        InteractionStimuli(np.ones(2), contrast=0.7)
    with pytest.raises(InputError, match="phases is 3; give an even number from 2"):
        InteractionStimuli(np.ones(2), phases=3)
    with pytest.raises(InputError, match=r"centre_diameter is \[nan\] for 2 gratings"):
        record_interactions(network(True), own(), InteractionStimuli(np.array([np.nan])), UnitSettings())
    with pytest.raises(InputError, match="own has 3 gratings for 2 units; give one for each, or say by block"):
        record_interactions(network(True), own(3), InteractionStimuli(np.ones(3)), UnitSettings())
