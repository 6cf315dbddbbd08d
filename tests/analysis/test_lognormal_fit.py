"""The two-parameter log-normal: against its closed form, scipy with a fixed location, and degenerate input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dcnbio.analysis.statistics.lognormal import LogNormal, fit_lognormal
from dcnbio.analysis.statistics.sample import finite_sample
from dcnbio.errors import InputError


def test_the_maximum_likelihood_s_divides_by_n():
    fit = fit_lognormal([0.5, 1, 2])
    assert fit.mu == pytest.approx(0, abs=1e-15)
    assert fit.s == pytest.approx(math.log(2) * math.sqrt(2 / 3), abs=1e-12)  # 0.693147 would be n - 1


def test_location_stays_at_0_where_a_free_fit_runs_away():
    values = np.random.default_rng(0).normal(2, 0.2, size=10_000)
    fit = fit_lognormal(values)
    shape, location, scale = stats.lognorm.fit(values, floc=0)
    assert (fit.s, location, fit.median) == pytest.approx((shape, 0, scale))
    assert abs(fit.s - 0.1) < 0.005


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30), st.floats(0.1, 10))
def test_a_change_of_unit_moves_mu_alone(values, factor):
    fit, scaled = fit_lognormal(values), fit_lognormal(np.array(values) * factor)
    assert scaled.s == pytest.approx(fit.s, abs=1e-9)
    assert scaled.mu == pytest.approx(fit.mu + math.log(factor), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 0, 2], "sigma has 1 non-positive value of 3"),
        ([1, -1, 0], "sigma has 2 non-positive values of 3"),
        ([1, math.nan], "sigma has 1 non-finite value of 2"),
        ([], "sigma has no value"),
    ],
)
def test_values_without_a_logarithm_are_counted(values, message):
    with pytest.raises(InputError, match=message):
        fit_lognormal(values)
    assert InputError.exit_status == 2


def test_equal_values_are_a_degenerate_fit():
    fit = fit_lognormal([2, 2, 2])
    assert (fit.s, fit.median, fit.degenerate, fit.skewness) == (0, 2, True, 0)
    assert fit.cdf([1, 2, 3]).tolist() == [0, 1, 1]
    with pytest.raises(ZeroDivisionError, match="degenerate log-normal"):
        fit.density_per_log(0.0)
    assert fit_lognormal([3.0]).degenerate


def test_density_per_log_fits_a_histogram_over_log_sigma():
    sigma = 2 ** np.random.default_rng(1).normal(0, 2 / 3, size=100_000)
    fit = fit_lognormal(sigma)
    bars, edges = np.histogram(np.log(sigma), bins=41, density=True)
    middles = (edges[1:] + edges[:-1]) / 2
    curve = fit.density_per_log(middles)
    assert abs(int(bars.argmax()) - int(curve.argmax())) <= 1
    assert integrate.quad(lambda x: float(fit.density_per_log(x)), -6, 6)[0] == pytest.approx(1, abs=1e-6)
    assert np.abs(bars - curve).max() < 0.02 * curve.max() + 0.02


def test_moments_agree_with_scipy():
    fit = LogNormal(0.3, 0.46)
    assert fit.skewness == pytest.approx(float(stats.lognorm.stats(0.46, scale=math.exp(0.3), moments="s")))
    x = np.array([0.5, 1.0, 3.0])
    assert fit.cdf(x) == pytest.approx(stats.lognorm.cdf(x, 0.46, scale=math.exp(0.3)))


def test_a_sample_may_not_hold_infinity():
    with pytest.raises(InputError, match="scales has 2 non-finite values of 3"):
        finite_sample([1, math.inf, -math.inf], "scales")
