"""Medians and slopes with limits, worst cases, and published values against outside oracles."""

from __future__ import annotations

import csv
import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from dcnbio.analysis.primate.bounds import between_kinds, gabor_nx, shape_bound
from dcnbio.analysis.primate.censored_slope import censored_slopes
from dcnbio.analysis.primate.frequency_questions import windows
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.placement import worst_cases
from dcnbio.analysis.primate.published import published_histogram, published_shape, published_subsets
from dcnbio.analysis.primate.resampling import at_ends, estimate
from dcnbio.analysis.primate.stated import level_diameter, njet_values, published_slope, stated_value
from dcnbio.analysis.primate.statistic import skewness, spread, spread_error
from dcnbio.analysis.statistics.survival import survival_medians
from dcnbio.errors import InputError
from dcnbio.images.shipped import shipped

ENDS = (-50.0, 50.0)


def one_median(values, side) -> float:
    return float(survival_medians(values, side, np.ones((1, len(values))))[0])


@pytest.mark.parametrize("seed", range(6))
def test_medians_with_limits_above_are_kaplan_and_meiers(seed):
    rng = np.random.default_rng(seed)
    truth, limit = rng.normal(size=31), rng.normal(0.8, 1, 31)
    values, side = np.minimum(truth, limit), (truth > limit).astype(int)
    alive = stats.ecdf(stats.CensoredData.right_censored(values, side > 0)).sf
    known = alive.quantiles[alive.probabilities <= 0.5 + 1e-12]
    expected = known[0] if known.size else np.inf
    assert one_median(values, side) == pytest.approx(expected)
    # mirrored, limits lie below
    assert one_median(-values, -side) == pytest.approx(-one_median(values, side))


def test_where_nothing_is_a_limit_the_median_is_numpys():
    rng = np.random.default_rng(0)
    for n in (8, 9):
        values = rng.normal(size=n)
        assert one_median(values, np.zeros(n, int)) == pytest.approx(np.median(values))


def test_limits_on_both_sides_do_not_move_a_median_as_leaving_them_out_does():
    rng = np.random.default_rng(1)
    truth, above, below = rng.normal(size=900), rng.normal(0.5, 1, 900), rng.normal(-2, 1, 900)
    side = np.where(truth > above, 1, np.where(truth < below, -1, 0))
    values = np.where(side > 0, above, np.where(side < 0, below, truth))
    assert abs(np.median(truth[side == 0])) > 0.2
    # 900 values give a median within 0.04 (one standard error), a third of them limits somewhat less
    assert one_median(values, side) == pytest.approx(0.0, abs=0.13)


def test_a_median_beyond_all_that_is_known_is_infinite_and_put_at_the_end_of_what_can_be_found():
    assert one_median(np.array([1.0, 2, 2, 2]), np.array([0, 1, 1, 1])) == np.inf
    assert one_median(np.array([1.0, 2, 2, 2]), np.array([0, -1, -1, -1])) == 1.0
    assert one_median(np.array([5.0, 2, 2, 2]), np.array([0, -1, -1, -1])) == -np.inf
    assert at_ends("median", Units(np.array([1.0, 2, 2, 2]), np.array([0, 1, 1, 1]), 0, ends=ENDS)) == ENDS[1]


@pytest.mark.parametrize("seed", range(4))
def test_slopes_with_limits_are_those_of_greatest_likelihood(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    truth, limit = 0.7 * x + rng.normal(size=40), rng.normal(0.7, 1, 40)
    y, side = np.minimum(truth, limit), (truth > limit).astype(int)

    def misfit(p):
        z = (y - p[0] - p[1] * x) / np.exp(p[2])
        return -np.where(side > 0, stats.norm.logsf(z), stats.norm.logpdf(z) - p[2]).sum()

    best = optimize.minimize(misfit, [0.0, 0.0, 0.0], method="BFGS").x[1]
    assert censored_slopes(y, x, side, np.ones((1, 40)))[0] == pytest.approx(best, abs=2e-3)


def test_without_limits_slopes_are_scipys_and_weights_are_repetitions():
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=9), rng.normal(size=9), rng.integers(1, 4, 9)
    found = censored_slopes(y, x, np.zeros(9, int), weights[None].astype(float))[0]
    assert found == pytest.approx(stats.linregress(np.repeat(x, weights), np.repeat(y, weights)).slope)


def test_statistics_are_scipys_and_the_error_of_a_spread_is_that_of_repeated_samples():
    values = np.random.default_rng(0).gamma(2.0, size=(3, 40))
    np.testing.assert_allclose(skewness(values), stats.skew(values, axis=-1))
    many = np.random.default_rng(1).uniform(size=(4000, 200))
    assert spread_error(many).mean() == pytest.approx(np.log(spread(many)).std(), rel=0.05)


@pytest.mark.parametrize("statistic", ["sd", "mean", "median"])
def test_worst_cases_bound_every_completion(statistic):
    rng = np.random.default_rng(4)
    units = Units(rng.normal(size=9), np.zeros(9, int), 3, ends=(-2.0, 3.0))
    low, high = (estimate(statistic, one) for one in worst_cases(statistic, units))
    grid = np.linspace(*units.ends, 8)
    all_of_them = [
        estimate(statistic, units.with_placed(np.array(places)))
        for places in itertools.combinations_with_replacement(grid, 3)
    ]
    assert low <= min(all_of_them) + 1e-9
    assert high >= max(all_of_them) - 1e-9


def test_the_worst_slopes_lie_at_corners():
    rng = np.random.default_rng(5)
    units = Units(rng.normal(size=(2, 9)), np.zeros(9, int), 1, ends=(-2.0, 2.0), ends_of_x=(-3.0, 3.0))
    low, high = (estimate("slope", one) for one in worst_cases("slope", units))
    tried = [
        estimate("slope", units.with_placed(np.array([[y], [x]])))
        for y in np.linspace(-2, 2, 9)
        for x in np.linspace(-3, 3, 9)
    ]
    assert low <= min(tried) + 1e-9
    assert high >= max(tried) - 1e-9


def test_nothing_unknown_has_no_worst_case_and_limits_of_a_mean_have_one():
    units = Units(np.array([1.0, 2.0]), np.array([0, 1]), 0, ends=(0.0, 4.0))
    assert worst_cases("median", units) == []
    assert [one.values.tolist() for one in worst_cases("mean", units)] == [[1.0, 2.0], [1.0, 4.0]]


def test_published_counts_are_those_of_the_studies():
    assert published_histogram("peak_spatial_frequency").n == 363
    assert published_histogram("preferred_orientation").n == 385
    assert published_histogram("surround_suppression_index").n == 190
    assert published_histogram("grating_summation_field").n == 148
    assert published_histogram("nx").n == published_histogram("ny").n == int(published_shape()[1].sum()) == 79
    assert (
        sum(one.n for name, one in published_subsets("peak_spatial_frequency").items() if "pooled" not in name) == 363
    )


def test_moments_are_those_computed_beside_the_tables():
    with open(shipped("primate/histogram_moments.csv"), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] in ("Cavanaugh2002a", "Schiller1976c")]
    for row in rows:
        values = published_subsets(row["quantity"])[row["subset"]].spread_values()
        assert np.median(values) == pytest.approx(float(row["median"]), abs=0.06 * values.std())
        assert spread(values) == pytest.approx(float(row["sd"]), rel=0.02)


def test_a_published_slopes_error_gives_its_p_value_back():
    # r = 0.18 and p = 0.025 are of about 155 cells: t = 2.26
    found = published_slope("log2(1/sigma_x)")
    assert (found.value, found.scaled) == (0.08, 1.0)
    assert 2 * stats.t.sf(found.value / found.error, 153) == pytest.approx(0.025, rel=0.05)
    assert published_slope("sigma_log(f)").value == -0.31
    with pytest.raises(InputError, match="no published slope"):
        published_slope("F1/F0")


def test_njets_are_those_of_their_closed_forms():
    # order n at sigma f: f^n exp(-2 pi^2 f^2); its cut-offs at 0.707 of the peak
    for order in (1, 2):
        peak = np.sqrt(order) / (2 * np.pi)

        def tuned(f, order=order, peak=peak):
            return (f / peak) ** order * np.exp(-2 * np.pi**2 * (f**2 - peak**2)) - 0.707

        low, high = optimize.brentq(tuned, 1e-6, peak), optimize.brentq(tuned, peak, 2.0)
        assert njet_values("100*f_low/f_high", "0.707")[f"order {order}"] == pytest.approx(100 * low / high, abs=0.05)
    assert njet_values("nx of best 1-D Gabor fit", "least squares")["order 1"] == 0
    with pytest.raises(InputError, match="not in data/primate"):
        njet_values("f1_f0", "0.5")


def test_bounds_are_fixed_by_what_is_published():
    assert between_kinds("spatial_frequency_bandwidth", "median").value == pytest.approx(54 - 42.647, abs=1e-3)
    assert stated_value("Kapadia", "ratio of") == 4
    with pytest.raises(InputError, match="not among the stated values"):
        stated_value("Nobody", "ratio of")
    assert level_diameter("V4") / level_diameter("V1") == pytest.approx(3.69, abs=0.01)
    # a Gabor of nx, tuned around f, passes half its peak at f +- sqrt(2 ln 2) / (2 pi sigma)
    nx = gabor_nx(1.6)
    half = np.sqrt(2 * np.log(2)) / (2 * np.pi * nx)
    assert np.log2((1 + half) / (1 - half)) == pytest.approx(1.6)
    assert shape_bound().value == pytest.approx(np.log2(gabor_nx(1.4) / gabor_nx(1.8)))


def test_the_published_range_is_cut_as_the_shown_one_and_keeps_every_cell():
    whole = published_histogram("peak_spatial_frequency")
    middle, beside = windows("peak_spatial_frequency", 3.9)
    assert middle.n == whole.n == len(middle.spread_values())
    assert np.ptp(middle.spread_values()) == pytest.approx(3.9)
    assert sum(middle.limits) / 2 == pytest.approx((whole.edges[0] + whole.edges[-1]) / 2)
    assert [one.limits[0] - middle.limits[0] for one in beside] == pytest.approx([-1, 1])
    drawn = middle.resampled(np.random.default_rng(0), 50)
    assert (drawn.min(), drawn.max()) == pytest.approx(middle.limits)
    inside = whole.spread_values()
    share = (inside <= middle.limits[0]).mean()
    assert (drawn == middle.limits[0]).mean() == pytest.approx(share, abs=0.01)
