"""Intervals and shares of the contrast analysis against simulations and laws."""

import numpy as np
import pytest

from dcnbio.analysis.contrast.equal_error import EqualError, at_error, equal_error_ratio
from dcnbio.analysis.contrast.equal_error_claims import compared
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.shapley import shapley_values
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import paired_difference
from dcnbio.errors import InputError


@pytest.mark.parametrize(("gain", "loss"), [(0.02, 0.10), (0.05, 0.05), (0.3, 0.4)])
@pytest.mark.parametrize("n", [60, 200])
def test_the_paired_interval_covers(n, gain, loss):
    """95 +- 3 % of the intervals of simulated pairs hold the true difference."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        kind = rng.random(n)
        first, second = kind < gain, (kind >= gain) & (kind < gain + loss)
        both = kind > (1 + gain + loss) / 2
        covered += (gain - loss) in paired_difference(first | both, second | both).interval
    assert 0.92 <= covered / 2000 <= 0.98


def test_a_paired_difference_counts_what_changed():
    found = paired_difference([1, 1, 0, 0], [1, 0, 1, 1])
    assert (found.value, found.gained, found.lost, found.n) == (-0.25, 1, 2, 4)
    assert paired_difference([True], [False]).interval.exists
    with pytest.raises(InputError, match="first has 0 units and second 0"):
        paired_difference([], [])


def test_many_images_tell_what_few_cannot():
    for n, verdict in ((100, "cannot tell"), (10_000, "within")):
        assert paired_difference(np.ones(n), np.ones(n)).verdict(0.005) == verdict
    worse = np.arange(1000) % 4 > 0
    assert paired_difference(worse, np.ones(1000)).verdict(0.005) == "beyond"


def test_the_interval_of_mean_evaluations_covers():
    """Evaluations change by sixes: the t interval over 20 images still holds their mean."""
    rng = np.random.default_rng(2)
    steps, chance = np.array([-42.0, -36, -30, -24]), np.array([0.2, 0.4, 0.3, 0.1])
    draws = rng.choice(steps, (2000, 20), p=chance)
    covered = np.mean([steps @ chance in interval_of(values) for values in draws])
    assert 0.92 <= covered <= 0.98


def test_no_spread_gives_no_interval():
    assert interval_of(np.zeros(5)).reason.startswith("all 5 images give the same")
    assert interval_of(np.zeros(1)).reason == "one image has no spread"
    assert interval_of(np.full(5, -42.0), "batches").reason.startswith("all 5 batches give the same")
    assert interval_of(np.zeros(1), "batches").reason == "one batch has no spread"


def curve(rng, n, tolerances=6):
    """Errors a decade apart and ten evaluations fewer for each, with images that err alike throughout."""
    common = rng.normal(0, 0.5, n)
    decades = np.arange(tolerances)[:, None]
    errors = 10 ** (-5 + decades + common + rng.normal(0, 0.2, (tolerances, n)))
    work = 70 - 10 * decades + 6 * np.round(rng.normal(0, 1, (tolerances, n)))
    return common, errors, work


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("truth", [1.0, 1.3])
def test_the_ratio_at_equal_error_is_covered(n, truth):
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        common, errors, work = curve(rng, n)
        own = 10 ** (-2.5 + common + rng.normal(0, 0.2, n))
        taken = truth * 45 + 6 * np.round(rng.normal(0, 1, n))
        found = equal_error_ratio((errors, work), (own, taken), rng, 399)
        covered += truth in found.interval
    assert 0.91 <= covered / 400 <= 0.985


STEPS = np.array([1.0, 2.5, 4.2])  # log factors past which an average image takes one step fewer


def in_steps(rng, n):
    """A law as networks have it: evaluations fall by six as the factor passes each image's own thresholds."""
    factors, own = np.linspace(0, 6, 13), rng.normal(0, 0.25, n)
    work = 26.0 - 6 * (factors[None, :, None] > STEPS[:, None, None] + own).sum(0)
    return -3 + 0.35 * factors, work


@pytest.mark.parametrize(("factor", "taken"), [(1.8, 20.0), (2.6, 14.0), (4.3, 8.0)])
def test_the_ratio_is_covered_where_evaluations_fall_in_steps(factor, taken):
    rng = np.random.default_rng(6)
    level, work = in_steps(rng, 100_000)
    truth = taken / at_error(level[None], work.mean(1)[None], np.array([-3 + 0.35 * factor]))[0]
    covered = 0
    for _ in range(400):
        common, (_, work) = rng.normal(0, 0.3, 20), in_steps(rng, 20)
        errors = np.exp(level[:, None] + common + rng.normal(0, 0.1, work.shape))
        own = np.exp(-3 + 0.35 * factor + common + rng.normal(0, 0.1, 20))
        found = equal_error_ratio((errors, work), (own, taken + 6 * np.round(rng.normal(0, 0.4, 20))), rng, 399)
        covered += truth in found.interval
    assert 0.91 <= covered / 400 <= 0.985


def test_a_tolerance_that_errs_more_and_takes_no_fewer_is_passed_over():
    """A long step may err less than a shorter one: what counts is the fewest evaluations of any that errs less."""
    errors = np.log([[0.1, 0.4, 0.2]])
    assert at_error(errors, np.array([[20.0, 14.0, 8.0]]), np.log([0.3])).tolist() == [8.0]
    assert at_error(errors, np.array([[20.0, 26.0, 14.0]]), np.log([0.1 * 2**0.5])).tolist() == pytest.approx([17.0])


def test_a_ratio_without_spread_has_no_interval():
    """Images that all take the fewest evaluations there are."""
    errors = np.array([[0.01] * 8, [0.2] * 8, [0.8] * 8])
    work = np.array([[20.0] * 8, [8.0] * 8, [8.0] * 8])
    found = equal_error_ratio((errors, work), (np.full(8, 0.5), np.full(8, 8.0)), np.random.default_rng(0), 99)
    assert (found.ratio, found.side, found.interval.exists) == (1.0, "between", False)
    assert compared(8.0, found) == "8.0: no difference is seen"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (EqualError(0.5, 0.1, Interval(0.4, 0.8), "between"), "40.0 (ratio 0.50, 0.40 to 0.80): T-hat takes fewer"),
        (
            EqualError(1.25, 0.1, Interval(1.1, 1.4), "between"),
            "16.0 (ratio 1.25, 1.10 to 1.40): the looser tolerance takes fewer",
        ),
        (EqualError(0.8, 0.1, Interval(0.6, 1.0), "between"), "25.0 (ratio 0.80, 0.60 to 1.00): no difference is seen"),
        (EqualError(0.8, 0.1, Interval.none("3 images"), "between"), "25.0: whether they differ cannot be told"),
    ],
)
def test_which_takes_fewer_at_equal_error_is_said(found, said):
    assert compared(20.0, found) == said


@pytest.mark.parametrize(("error", "side"), [(1e-9, "below"), (1e-3, "between"), (10.0, "above")])
def test_an_error_beyond_the_tolerances_is_said(error, side):
    _, errors, work = curve(np.random.default_rng(4), 8)
    found = equal_error_ratio((errors, work), (np.full(8, error), np.full(8, 30.0)), np.random.default_rng(0), 99)
    assert found.side == side


@pytest.mark.parametrize(
    ("ratio", "side", "said"),
    [
        (1.0, "above", "20.0 or fewer, since even the loosest tried errs less: T-hat saves no more than that"),
        (0.4, "above", "50.0 or fewer, since even the loosest tried errs less: which takes fewer is not known"),
        (1.0, "below", "20.0 or more, since even the tightest tried errs more: which takes fewer is not known"),
    ],
)
def test_what_a_limit_of_the_ratio_tells_is_said(ratio, side, said):
    assert compared(20.0, EqualError(ratio, 0.1, Interval.none("beyond"), side)) == said


def test_few_images_are_not_resampled():
    _, errors, work = curve(np.random.default_rng(4), 3)
    found = equal_error_ratio((errors, work), (errors[2], work[2]), np.random.default_rng(0), 99)
    assert found.interval.reason == "3 images are too few to resample (at least 6)"
    assert found.ratio == pytest.approx(1)
    with pytest.raises(InputError, match=r"give \(k, n\) and \(n,\)"):
        equal_error_ratio((errors, work), (errors[2, :2], work[2, :2]), np.random.default_rng(0), 99)


def test_shares_of_factors_that_add_up_are_their_effects():
    effects = np.array([2.0, -1.0, 0.5])
    level = np.indices((2, 2, 2)).reshape(3, 8)
    cells = (effects @ level).reshape(2, 2, 2, 1)
    assert shapley_values(cells, 3)[:, 0] == pytest.approx(effects)


def test_shares_add_up_and_an_idle_factor_has_none():
    cells = np.random.default_rng(5).normal(size=(2, 2, 2, 7))
    assert shapley_values(cells, 3).sum(0) == pytest.approx(cells[1, 1, 1] - cells[0, 0, 0])
    idle = np.repeat(cells[:, :1], 2, axis=1)
    assert shapley_values(idle, 3)[1] == pytest.approx(np.zeros(7))
    with pytest.raises(InputError, match="needs an axis of 2 levels"):
        shapley_values(np.zeros((3, 2)), 2)
