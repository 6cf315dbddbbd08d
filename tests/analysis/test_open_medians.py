"""Medians and intervals that reach beyond all that is known: no number is made of a limit, no end of the last one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dcnbio.analysis.completion.readout import solution_times
from dcnbio.analysis.primate.comparison import Bound, Published, Question, compared
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.resampling import stated
from dcnbio.analysis.primate.verdict import LIKE, verdicts
from dcnbio.analysis.responses.medians import difference_of_medians, median_of_values
from dcnbio.analysis.statistics.open_ends import closed, open_percentiles, percentile_interval
from dcnbio.analysis.statistics.survival import median_with_limits

COMMON = (0.4, 0.5, 0.55)  # shares of units beyond one common limit, which may be the median itself


def half_limits(rng, n):
    """An even number of units, half of them limits above, at least two."""
    values, sides = rng.normal(size=n), np.zeros(n, int)
    sides[rng.permutation(n)[: n // 2]] = 1
    return values, sides


@pytest.mark.parametrize("n", [4, 8, 32])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_median_does_not_depend_on_how_far_the_farthest_limit_lies(n, sign):
    rng = np.random.default_rng(n)
    for _ in range(50):
        values, sides = half_limits(rng, n)
        farthest = np.flatnonzero(sides)[0]
        values[farthest] = values.max() + 1
        values += 10  # so that a hundred times as far lies on the same side
        farther = values.copy()
        farther[farthest] *= 100
        assert median_with_limits(sign * values, sign * sides) == median_with_limits(sign * farther, sign * sides)
        near, far = (Units(sign * one, sign * sides, 0, ends=(-1e4, 1e4)) for one in (values, farther))
        assert stated("median", near) == stated("median", far)


def test_with_half_the_units_beyond_the_last_known_one_the_median_is_a_limit():
    assert median_with_limits(np.array([1.0, 2.0, 5.0, 6.0]), np.array([0, 0, 1, 1])) == (3.5, 1)
    assert median_with_limits(np.array([5.0, 6.0, 1.0, 2.0]), np.array([0, 0, -1, -1])) == (3.5, -1)
    for end in (20.0, 60.0, 600.0):
        found = median_of_values(
            np.r_[np.arange(1.0, 17.0), np.full(15, 20.0), end], np.random.default_rng(0), np.repeat([0, 1], 16)
        )
        assert (str(found), found.interval.to_list(), found.bounds) == (">18", None, (18.0, math.inf))


def test_a_known_value_that_ties_with_the_last_limit_is_known():
    assert median_with_limits(np.array([1.0, 5.0, 5.0, 5.0, 5.0]), np.array([0, 0, 0, 0, 1])) == (5.0, 0)


def test_the_bound_holds_whatever_the_limits_hide():
    """Limits on both sides: the bound stands for every truth that they allow, and nothing is said where none does."""
    rng, said = np.random.default_rng(3), 0
    for _ in range(300):
        n = int(rng.integers(4, 9))
        values, sides = rng.integers(0, 9, n).astype(float), rng.integers(-1, 2, n)
        bound, beyond = median_with_limits(values, sides)
        if not beyond:
            continue
        said += 1
        for far in (0.1, 50.0):
            truths = values + np.where(sides == beyond, 0.1, far) * sides
            assert beyond * (np.median(truths) - bound) >= 0
    assert said > 30
    value, beyond = median_with_limits(np.array([1.0, 2.0, 5.0, 6.0]), np.array([-1, -1, 1, 1]))
    assert (math.isnan(value), beyond) == (True, 0)
    nothing = median_of_values(np.arange(8.0), np.random.default_rng(0), np.repeat([-1, 1], 4))
    assert (str(nothing), nothing.interval.exists) == ("not known", False)


def test_a_solution_time_has_no_median_where_half_the_images_are_not_solved():
    right = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]], bool)
    times = np.array([0.0, 0.5, 1.0])
    assert solution_times(right, times).median == 0.75
    half = solution_times(right[[0, 1, 3, 3]], times)
    assert (math.isnan(half.median), half.censored) == (True, 2)


def test_percentiles_of_finite_draws_are_numpys_and_beside_an_infinite_one_they_lie_outwards():
    drawn = np.random.default_rng(0).normal(size=199)
    assert open_percentiles(drawn, (0.03, 0.971)) == pytest.approx(np.quantile(drawn, [0.03, 0.971]))
    some = np.r_[np.arange(39.0), np.inf]
    assert open_percentiles(some, (0.025, 0.975)) == (pytest.approx(0.975), math.inf)
    assert open_percentiles(np.r_[np.arange(38.0), np.nan, np.nan], (0.025, 0.975)) == (-math.inf, math.inf)


def test_an_interval_with_an_open_end_is_none_and_names_the_other():
    values, sides = np.minimum(np.arange(31.0), 16.0), (np.arange(31) > 16).astype(int)
    above = median_of_values(values, np.random.default_rng(0), sides)
    assert (above.value, above.beyond, above.interval.to_list()) == (15.0, 0, None)
    below = median_of_values(-values, np.random.default_rng(0), -sides)
    low = float(above.interval.reason.removeprefix("its upper end lies beyond all that is known; from "))
    assert 8 <= low <= 14
    assert below.interval.reason == f"its lower end lies beyond all that is known; up to {-low:g}"
    difference, interval = difference_of_medians(values, values, np.random.default_rng(0), (sides, sides))
    assert (difference, interval.reason) == (0.0, "either end lies beyond all that is known")
    assert percentile_interval(np.full(9, np.inf), "made").reason == "either end lies beyond all that is known"


def drawn_medians(rng, share, n=32):
    """Normal values whose median is 0, those beyond one common limit known as beyond it."""
    values, cut = rng.normal(size=n), float(stats.norm.ppf(1 - share))
    return np.minimum(values, cut), (values > cut).astype(int)


def held(interval, truth):
    """Whether an interval holds the truth: with an open end, whether its other end does; None where there is none."""
    if interval.exists:
        return truth in interval
    for words, sign in (("from ", 1), ("up to ", -1)):
        if interval.reason.startswith("its ") and words in interval.reason:
            return sign * (truth - float(interval.reason.rpartition(words)[2])) > -1e-3
    return None


def checked(found, least):
    """Hold the share of intervals that hold the truth to the claimed one, of those that were given and of all."""
    given = [one for one in found if one is not None]
    assert len(given) > 0.1 * len(found)
    assert np.mean(given) >= least


@pytest.mark.parametrize("share", COMMON)
def test_intervals_of_medians_hold_a_truth_at_or_beyond_a_common_limit(share):
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        values, sides = drawn_medians(rng, share)
        found.append(held(median_of_values(values, rng, sides).interval, 0.0))
    checked(found, 0.92)


@pytest.mark.parametrize("share", COMMON)
def test_intervals_of_differences_hold_a_truth_at_or_beyond_a_common_limit(share):
    rng, found = np.random.default_rng(2), []
    for _ in range(200):
        (values, sides), (others, theirs) = drawn_medians(rng, share), drawn_medians(rng, 0.2)
        found.append(held(difference_of_medians(values, others + 1, rng, (sides, theirs))[1], -1.0))
    checked(found, 0.92)


def question(bound):
    return Question("made", "1", "median", Published("made", value=0.0), Bound(bound, "made"))


def test_a_comparison_with_an_open_end_has_no_interval_and_is_not_like():
    """The end of what can be found lies within the bound, but that is where the stimuli end, not the units."""
    values, sides = np.minimum(np.linspace(-1, 1, 31), 0.1), (np.linspace(-1, 1, 31) > 0.1).astype(int)
    found = compared(question(0.5), Units(values, sides, 0, ends=(-1.0, 0.3)), np.random.default_rng(0), 999)
    assert (found.interval(), found.interval(0.9), found.limit) == (None, None, 0)
    low, high = found.ends()
    assert -1 < low < found.effect < high == math.inf
    assert closed(low, high)[1].startswith("its upper end lies beyond all that is known; from -0.")
    assert verdicts([[found.draws]], [0.5])[0].verdict != LIKE


def test_a_comparison_of_a_limit_is_marked_as_one_and_has_no_interval():
    values = np.r_[np.arange(1.0, 17.0), np.full(16, 20.0)]
    units = Units(values, np.repeat([0, 1], 16), 0, ends=(0, 90))
    found = compared(question(0.5), units, np.random.default_rng(0), 999)
    assert (found.model, found.limit, found.interval()) == (18.0, 1, None)
    assert found.to_dict()["limit"] == "lower"
    assert found.worst_case() == [18.0, 90.0]
