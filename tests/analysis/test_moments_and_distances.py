"""Skewness, L-moments, distances and the t interval, against scipy, closed forms and brute force."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

from dcnbio.analysis.statistics.distribution_distance import cdf_distance, normal_misfit, octave_distance
from dcnbio.analysis.statistics.l_moments import NORMAL_L_KURTOSIS, l_moments
from dcnbio.analysis.statistics.skewness import skewness
from dcnbio.analysis.statistics.t_interval import t_interval
from dcnbio.errors import InputError


def test_skewness_is_scipys():
    values = np.random.default_rng(0).gamma(2.0, size=200)
    assert skewness(values) == pytest.approx(stats.skew(values))
    assert math.isnan(skewness([2.0, 2.0, 2.0]))


def test_l_moments_are_scipys():
    values = np.random.default_rng(0).gamma(2.0, size=57)
    found = l_moments(values)
    expected = stats.lmoment(values, order=[1, 2, 3, 4], standardize=True)
    assert [found.location, found.scale, found.skewness, found.kurtosis] == pytest.approx(list(expected))


def test_l_moments_of_known_distributions():
    probability = (np.arange(200_000) + 0.5) / 200_000
    normal, exponential = l_moments(stats.norm.ppf(probability)), l_moments(stats.expon.ppf(probability))
    assert [normal.scale, normal.skewness] == pytest.approx([1 / math.sqrt(math.pi), 0], abs=1e-4)
    assert normal.kurtosis == pytest.approx(NORMAL_L_KURTOSIS, abs=1e-3)
    assert [exponential.scale, exponential.skewness, exponential.kurtosis] == pytest.approx(
        [1 / 2, 1 / 3, 1 / 6], abs=1e-3
    )


def test_l_moments_need_four_values_that_differ():
    with pytest.raises(InputError, match="3 values; four L-moments need at least 4"):
        l_moments([1, 2, 3])
    flat = l_moments([0.0] * 5)
    assert flat.scale == 0
    assert math.isnan(flat.skewness)


def test_distances_between_samples():
    rng = np.random.default_rng(0)
    a, b = rng.lognormal(size=70), rng.lognormal(0.3, size=90)
    assert cdf_distance(a, b) == pytest.approx(stats.ks_2samp(a, b).statistic)
    assert octave_distance(a, 4 * a) == pytest.approx(2)
    assert cdf_distance(a, a) == octave_distance(a, a) == 0


def test_the_misfit_of_a_normal_by_brute_force():
    x = np.sort(np.random.default_rng(0).gamma(2.0, size=40))
    largest, moved = normal_misfit(x)
    assert largest == pytest.approx(stats.kstest(x, "norm", args=(x.mean(), x.std())).statistic)
    at = np.linspace(x.mean() - 12 * x.std(), x.mean() + 12 * x.std(), 2_000_001)
    gap = np.abs(np.searchsorted(x, at, side="right") / x.size - ndtr((at - x.mean()) / x.std()))
    assert moved == pytest.approx(integrate.trapezoid(gap, at), abs=1e-5)
    assert normal_misfit([3.0, 3.0]) == (0, 0)


def test_the_t_interval():
    values = np.random.default_rng(0).normal(size=5)
    found = t_interval(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.to_list() == pytest.approx([expected.low, expected.high])
    point = t_interval([2.0, 2.0])
    assert (point.to_list(), point.reason) == ([2.0, 2.0], "all values are equal")
    assert t_interval([1.0]).to_list() is None
    with pytest.raises(InputError, match="values has no value"):
        t_interval([])
