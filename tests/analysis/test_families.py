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


@pytest.mark.parametrize("power", [1e-3, 1e-6, 1e-8])
def test_families_are_told_apart_however_little_values_differ(power):
    """Powers of log-normals and of Weibulls are such again, so that gain stays; the others become one family."""
    grid = np.random.default_rng(0).lognormal(sigma=0.5, size=(12, 13))
    wide, narrow = (
        {one.family: one for one in log_likelihood_gain(x, np.random.default_rng(1), 199)} for x in (grid, grid**power)
    )
    assert narrow["weibull"].gain == pytest.approx(wide["weibull"].gain, rel=1e-3)
    for family in ("gamma", "normal", "inverse-gaussian"):
        assert narrow[family].gain == pytest.approx(0, abs=5 * power)
        assert narrow[family].interval.exists


def test_a_gamma_keeps_its_likelihood_where_values_differ_little():
    """Against scipy's density, where that is still exact, and far beside it."""
    x = 2 ** np.random.default_rng(0).normal(0, 1e-2, size=300)
    far = np.array([1e-30, 1e-3, 0.99, 1.01, 1e3])
    density = FAMILIES["gamma"](x)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    assert density(far) == pytest.approx(stats.gamma.logpdf(far, shape, scale=scale), rel=1e-6)


def test_a_family_that_cannot_be_fitted_or_has_no_density_says_so():
    lonely = np.ones((12, 13))
    lonely[0, 0] = 2.0
    for one in log_likelihood_gain(lonely, np.random.default_rng(0), 199):
        assert np.isnan(one.gain)
        assert one.interval.reason == "values differ in so few channels that a part of them is equal"
    outlier = 1 + 1e-3 * np.random.default_rng(0).random((12, 13))
    outlier[0, 0] = 1e6
    found = {one.family: one for one in log_likelihood_gain(outlier, np.random.default_rng(0), 199)}
    assert found["weibull"].gain == np.inf
    assert found["weibull"].interval.reason == "1 of 156 values have no density under the other"
    assert found["gamma"].interval.exists
