"""Scales that layers share in several networks of a row: the level of the test and the coverage of s, simulated."""

import math

import numpy as np
import pytest

from dcnbio.analysis.scales.shared_scale_claims import (
    fit_test,
    networks_against_start,
    spread_of_layers,
    spread_over_networks,
)

OCTAVES = 2 / 3
S = OCTAVES * math.log(2)


def networks(rng, effects, share, seeds=5):
    """log2 sigma of networks in which each layer has an effect of its own that makes a part of the variance."""
    noise = rng.standard_normal((seeds, len(effects)))
    return list(OCTAVES * (math.sqrt(share) * effects + math.sqrt(1 - share) * noise))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8])
def test_the_fit_of_log_normal_scales_is_rejected_at_its_level(share):
    """Pooled as 30 independent layers they were rejected in 16 % at a share of 0.8."""
    rng = np.random.default_rng(0)
    p = [fit_test(networks(rng, rng.standard_normal(6), share), rng, 59).p for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) <= 0.07


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("layers", [4, 6])
def test_s_over_networks_is_covered(share, layers):
    """The truth is what networks of these layers have in the mean; with independent layers it is that of the start."""
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(60):
        effects = rng.standard_normal(layers)
        many = np.array(networks(rng, effects, share, seeds=4000))
        truth = S if share == 0 else np.mean([spread_of_layers(one) for one in many])
        for _ in range(10):
            covered.append(truth in spread_over_networks(networks(rng, effects, share))[1])
    assert 0.92 <= np.mean(covered) <= 0.98


def test_the_start_is_told_from_no_start_of_few_networks():
    """Two networks of six layers each, where limits were those of twelve independent layers."""
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(400):
        logs = networks(rng, np.zeros(6), 0.0, seeds=2)
        found = networks_against_start(logs, OCTAVES, *spread_over_networks(logs))
        assert found.n == 12
        inside.append(found.shift_interval[0] <= 0 <= found.shift_interval[1])
    assert 0.92 <= np.mean(inside) <= 0.98


def test_equal_scales_and_networks_of_other_layers_are_said():
    rng = np.random.default_rng(3)
    assert spread_over_networks([np.zeros(6), np.zeros(6)])[1].reason == "all scales are equal"
    assert fit_test([np.arange(4.0), np.arange(6.0)], rng).reason.startswith("none, since networks differ")
    assert spread_over_networks([np.arange(4.0)] * 2)[1].reason == "all values are equal"
