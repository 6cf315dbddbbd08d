"""Competing families against scipy's fits; held-out densities share no channel; equivalence verdicts."""

import numpy as np
import pytest
from scipy import stats

from dcnbio.analysis.statistics.equivalence import equivalence
from dcnbio.analysis.statistics.families import FAMILIES
from dcnbio.analysis.statistics.held_out import FOLDS, folds_of, held_out_log_likelihood, log_likelihood_gain
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.errors import InputError

SCIPY = {
    "log-normal": stats.lognorm,
    "gamma": stats.gamma,
    "weibull": stats.weibull_min,
    "inverse-gaussian": stats.invgauss,
}


@pytest.mark.parametrize("family", SCIPY)
def test_fits_are_scipys_maximum_likelihood(family):
    x = np.random.default_rng(0).gamma(3.0, 0.5, size=300)
    expected = SCIPY[family].logpdf(x, *SCIPY[family].fit(x, floc=0))
    assert FAMILIES[family](x)(x).mean() == pytest.approx(expected.mean(), abs=1e-4)


def test_the_normal_is_fitted_by_mean_and_deviation():
    x = np.random.default_rng(0).normal(5, 2, size=100)
    assert FAMILIES["normal"](x)(x) == pytest.approx(stats.norm.logpdf(x, *stats.norm.fit(x)))


@pytest.mark.parametrize(
    ("family", "draw"),
    [
        ("gamma", lambda rng: rng.gamma(1.5, size=(40, 40))),
        ("weibull", lambda rng: rng.weibull(3.0, size=(40, 40))),
        ("normal", lambda rng: np.abs(rng.normal(3, 0.5, size=(40, 40)))),
        ("inverse-gaussian", lambda rng: rng.wald(1.0, 1.0, size=(40, 40))),
        ("log-normal", lambda rng: rng.lognormal(sigma=0.8, size=(40, 40))),
    ],
)
def test_the_family_of_the_values_wins(family, draw):
    rng = np.random.default_rng(0)
    means = {name: values.mean() for name, values in held_out_log_likelihood(draw(rng), rng).items()}
    assert max(means, key=means.get) == family


def test_no_channel_is_on_both_sides():
    grid = np.random.default_rng(0).lognormal(size=(12, 12))
    before = held_out_log_likelihood(grid, np.random.default_rng(4))
    rows = folds_of(12, np.random.default_rng(4))
    changed = grid.copy()
    changed[rows == 0] *= 7  # rows that are held out together
    after = held_out_log_likelihood(changed, np.random.default_rng(4))
    same = np.isin(rows, [0])
    fitted = {name: after[name][same] - before[name][same] for name in FAMILIES}
    # the fits for those rows used none of them: the log-normal density at 7 x differs as the unchanged fit says
    log_density = [FAMILIES["log-normal"](grid[rows != 0][:, c != k].ravel()) for k, c in _column_folds(grid)]
    for (k, c), density in zip(_column_folds(grid), log_density, strict=True):
        held = np.ix_(rows == 0, c == k)
        assert after["log-normal"][held] == pytest.approx(density(changed[held]))
    assert all(np.isfinite(values).all() for values in fitted.values())


def _column_folds(grid):
    rng = np.random.default_rng(4)
    folds_of(grid.shape[0], rng)
    columns = folds_of(grid.shape[1], rng)
    return [(k, columns) for k in range(FOLDS)]


def test_gains_have_clustered_intervals():
    rng = np.random.default_rng(0)
    found = {one.family: one for one in log_likelihood_gain(rng.gamma(2.0, size=(40, 1)), rng, 199)}
    assert found["gamma"].gain < 0
    assert found["gamma"].gain in found["gamma"].interval


def test_values_that_cannot_be_held_out():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="at least 20 values"):
        held_out_log_likelihood(np.ones((2, 3)), rng)
    with pytest.raises(InputError, match="all 25 values are 2; a density needs values that differ"):
        held_out_log_likelihood(np.full((5, 5), 2.0), rng)


@pytest.mark.parametrize(
    ("distance", "limits", "verdict"),
    [
        (0.005, (0, 0.019), "within"),
        (0.005, (0, 0.021), "cannot tell"),
        (0.03, (0.021, 0.05), "beyond"),
        (0.03, (0.019, 0.05), "cannot tell"),
        (0.03, (0, 0.05), "cannot tell"),
    ],
)
def test_verdicts(distance, limits, verdict):
    assert equivalence(distance, Interval(*limits)).verdict == verdict


def test_without_a_limit_nothing_is_within_or_beyond():
    assert equivalence(0.0, Interval.none("one filter")).verdict == "cannot tell"
    assert equivalence(0.5, Interval.none("one filter")).verdict == "cannot tell"
