"""The verdict on log-normality: at most 5 % called "beyond" by mistake at the bound, and a large misfit is seen."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, special, stats

from dcnbio.analysis.scales.distribution import scale_distribution
from dcnbio.analysis.statistics.equivalence import LOGNORMAL_BOUND, equivalence
from dcnbio.analysis.statistics.goodness_of_fit import lognormal_goodness_of_fit
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.misfit_limit import misfit_limits

JUST_UNDER = 0.0199
AT = np.linspace(-12, 12, 40_001)


def skew_normal(a):
    """Make a skew-normal by Owen's T (scipy's own function integrates point by point)."""
    lean = a / math.sqrt(1 + a**2) * math.sqrt(2 / math.pi)
    return SimpleNamespace(
        mean=lambda: lean,
        std=lambda: math.sqrt(1 - lean**2),
        cdf=lambda x: stats.norm.cdf(x) - 2 * special.owens_t(x, a),
    )


SHAPES = {
    "skewed": skew_normal,
    "heavy of tail": lambda a: stats.t(4 + 1 / a),
    "light of tail": lambda a: stats.gennorm(2 + a),
}
EFFECTS = [(0.0, 0.0), (0.1, 0.1), (0.3, 0.05)]


def true_distance(frozen):
    """Largest distance from the normal of the same mean and deviation."""
    return np.abs(frozen.cdf(AT) - stats.norm.cdf(AT, frozen.mean(), frozen.std())).max()


def at_distance(shape, distance):
    """Find the distribution of this shape that lies so far from its normal."""
    family = SHAPES[shape]
    return family(optimize.brentq(lambda a: true_distance(family(a)) - distance, 1e-3, 12))


def grids(frozen, size, effects, simulations):
    """Draw grids of log2 sigma with this marginal, whose rows and columns share parts of the variance."""
    rng, (rows, columns) = np.random.default_rng(11), effects
    below = frozen.cdf(AT)
    rising = np.flatnonzero(np.diff(below) > 0)
    for _ in range(simulations):
        z = math.sqrt(1 - rows - columns) * rng.standard_normal(size)
        z += math.sqrt(rows) * rng.standard_normal((size[0], 1)) + math.sqrt(columns) * rng.standard_normal(size[1])
        yield np.interp(stats.norm.cdf(z), below[rising], AT[rising])


def share_beyond(shape, distance, size, effects, simulations, resamples=99):
    rng, beyond = np.random.default_rng(12), 0
    for grid in grids(at_distance(shape, distance), size, effects, simulations):
        test = lognormal_goodness_of_fit(2**grid, rng, resamples)
        limits = misfit_limits(test.distance, Interval(0.0, 1.0), test.chance)
        beyond += equivalence(test.distance, limits).verdict == "beyond"
    return beyond / simulations


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("effects", EFFECTS)
def test_what_lies_within_the_bound_is_not_called_beyond_it(shape, effects):
    assert share_beyond(shape, JUST_UNDER, (32, 33), effects, 60) <= 0.05


@pytest.mark.parametrize("distance", [0.014, 0.0164])
def test_an_estimate_over_the_bound_that_is_no_chance_does_not_decide(distance):
    assert share_beyond("skewed", distance, (32, 32), (0.0, 0.0), 60) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("size", [(32, 33), (64, 65)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("effects", EFFECTS)
def test_what_lies_within_the_bound_is_not_called_beyond_it_at_full_size(size, shape, effects):
    assert share_beyond(shape, JUST_UNDER, size, effects, 400, 199) <= 0.05


@pytest.mark.parametrize("effects", EFFECTS[:2])
def test_a_misfit_of_three_times_the_bound_is_seen(effects):
    assert share_beyond("skewed", 0.06, (64, 64), effects, 12) == 1


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS[:2])
def test_a_misfit_of_three_times_the_bound_is_seen_at_full_size(effects):
    assert share_beyond("skewed", 0.06, (64, 64), effects, 100, 199) >= 0.95


def test_the_distribution_of_a_convolution_carries_both_limits_and_their_verdict():
    (grid,) = grids(at_distance("skewed", 0.06), (64, 64), (0.0, 0.0), 1)
    found = scale_distribution(2**grid, np.random.default_rng(0), 199)
    limits = found.filters["largest"].interval
    assert limits.low == pytest.approx(found.fit_test.distance - found.fit_test.chance)
    assert LOGNORMAL_BOUND < limits.low < 0.06 < limits.high
    assert limits.method.startswith("lower limit, D minus what chance makes of it; upper limit, two-way cluster")
    assert found.verdict == "beyond"
    assert found.filters["moved"].interval.low == 0


def test_what_chance_makes_is_the_quantile_of_lilliefors():
    rng = np.random.default_rng(0)
    found = lognormal_goodness_of_fit(rng.lognormal(size=400), rng, 1999)
    assert found.chance == pytest.approx(0.895 / (math.sqrt(400) - 0.01 + 0.85 / math.sqrt(400)), rel=0.03)  # Stephens


def test_without_a_test_the_lower_limit_is_zero():
    upper = Interval(0.0, 0.05, method="upper limit, bootstrap over 30 units")
    assert misfit_limits(0.04, upper, math.nan) == upper
    assert misfit_limits(0.01, upper, 0.02).low == 0
    assert not misfit_limits(0.04, Interval.none("5 clusters"), 0.01).exists
