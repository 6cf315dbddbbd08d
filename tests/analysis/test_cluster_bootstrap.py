"""The two-way cluster bootstrap: weights against copies, coverage of 95 %, little memory, degenerate grids."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from scipy.special import owens_t

from dcnbio.analysis.statistics.cluster_bootstrap import acceleration, left_out, two_way_bootstrap
from dcnbio.analysis.statistics.distribution_distance import normal_misfit
from dcnbio.analysis.statistics.l_moments import NORMAL_L_KURTOSIS, l_moments
from dcnbio.analysis.statistics.misfit_limit import misfit_bootstrap
from dcnbio.analysis.statistics.moment_statistic import correlation_statistic, mean_statistic, shape_statistic
from dcnbio.analysis.statistics.ordered_statistic import LShape, NormalMisfit, OrderedGrid, QuantileStatistic
from dcnbio.errors import InputError

EFFECTS = [(0.0, 0.0), (0.1, 0.1), (0.3, 0.05)]
SD = 2 / 3
S = SD * math.log(2)
SKEWNESS = (math.exp(S**2) + 2) * math.sqrt(math.exp(S**2) - 1)


def crossed(rng, shape, effects):
    rows, columns = effects
    grid = math.sqrt(1 - rows - columns) * rng.standard_normal(shape)
    return (
        grid + math.sqrt(rows) * rng.standard_normal((shape[0], 1)) + math.sqrt(columns) * rng.standard_normal(shape[1])
    )


def copied(grid, rows, columns):
    """Repeat rows and columns as often as they are drawn: what the weights stand for."""
    return np.repeat(np.repeat(grid, rows.astype(int), axis=0), columns.astype(int), axis=1)


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    grid = rng.gamma(2.0, size=(9, 11))
    rows = rng.multinomial(9, [1 / 9] * 9, size=4).astype(float)
    columns = rng.multinomial(11, [1 / 11] * 11, size=4).astype(float)
    return grid, rows, columns


def test_weighted_moments_are_those_of_copies(drawn):
    grid, rows, columns = drawn
    found = shape_statistic(grid)(rows, columns)
    for b in range(4):
        values = copied(grid, rows[b], columns[b])
        assert found[b] == pytest.approx([values.mean(), values.std(), stats.skew(values, axis=None)])


def test_weighted_misfit_is_that_of_copies(drawn):
    grid, rows, columns = drawn
    found = NormalMisfit(OrderedGrid.of(grid))(rows, columns)
    for b in range(4):
        largest, moved = normal_misfit(copied(grid, rows[b], columns[b]))
        assert found[b, 0] == pytest.approx(largest)
        assert found[b, 1] == pytest.approx(moved, rel=0.05)  # the normal is taken as straight between values


def test_weighted_l_moments_are_those_of_copies(drawn):
    grid, rows, columns = drawn
    found = LShape(OrderedGrid.of(grid))(rows, columns)
    for b in range(4):
        many = np.tile(copied(grid, rows[b], columns[b]), (200, 1))  # the unbiased form tends to the weighted one
        expected = l_moments(many)
        assert found[b] == pytest.approx([expected.skewness, expected.kurtosis], abs=1e-3)


def test_weighted_quantiles_and_correlation_are_those_of_copies(drawn):
    grid, rows, columns = drawn
    other = grid**2 + np.arange(11)
    shift = QuantileStatistic(OrderedGrid.of(grid), OrderedGrid.of(other), (0.25, 0.5))(rows, columns)
    related = correlation_statistic(grid, other)(rows, columns)
    for b in range(4):
        x, y = copied(grid, rows[b], columns[b]), copied(other, rows[b], columns[b])
        q = [np.quantile(v, (0.25, 0.5), method="inverted_cdf") for v in (x, y)]
        assert shift[b] == pytest.approx(q[1] - q[0])
        r = np.corrcoef(x.ravel(), y.ravel())[0, 1]
        assert related[b] == pytest.approx([math.atanh(r), 1 - r**2, y.std() / x.std()])


def test_base_weights_count_cells_more_than_once(drawn):
    grid = drawn[0]
    base = np.random.default_rng(0).integers(1, 4, size=grid.shape)
    found = shape_statistic(grid, base.astype(float))(np.ones((1, 9)), np.ones((1, 11)))[0]
    values = np.repeat(grid.ravel(), base.ravel())
    assert found == pytest.approx([values.mean(), values.std(), stats.skew(values)])
    misfit = NormalMisfit(OrderedGrid.of(grid, base.astype(float)))(np.ones((1, 9)), np.ones((1, 11)))[0]
    assert misfit[0] == pytest.approx(normal_misfit(values)[0])


def test_leaving_out_a_column():
    grid = np.random.default_rng(0).normal(size=(4, 5))
    assert left_out(mean_statistic(grid), 1)[2, 0] == pytest.approx(np.delete(grid, 2, axis=1).mean())


def covered(effects, shape, simulations, resamples):
    """Count how often 95 % intervals hold the truth, statistic by statistic."""
    rng = np.random.default_rng(5)
    hits = dict.fromkeys(("mean", "sd", "skewness", "l_skewness", "l_kurtosis", "correlation"), 0)
    for _ in range(simulations):
        x = SD * crossed(rng, shape, effects)
        y = x + SD / 2 * crossed(rng, shape, effects)
        of_logs = two_way_bootstrap(shape_statistic(x), rng, resamples)
        of_sigma = two_way_bootstrap(shape_statistic(2**x), rng, resamples)
        of_order = two_way_bootstrap(LShape(OrderedGrid.of(x)), rng, resamples)
        related = two_way_bootstrap(correlation_statistic(x, y), rng, resamples)
        hits["mean"] += 0 in of_logs.interval(0)
        hits["sd"] += SD in of_logs.interval(1)
        hits["skewness"] += SKEWNESS in of_sigma.tail_interval(2)
        hits["l_skewness"] += 0 in of_order.interval(0)
        hits["l_kurtosis"] += NORMAL_L_KURTOSIS in of_order.interval(1)
        hits["correlation"] += math.atanh(1 / math.sqrt(1.25)) in related.interval(0)
    return {name: count / simulations for name, count in hits.items()}


def test_intervals_cover_95_percent():
    found = covered((0.1, 0.1), (32, 33), 300, 199)
    assert all(0.92 <= share <= 0.98 for share in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_intervals_cover_95_percent_at_full_size(effects):
    found = covered(effects, (32, 33), 1000, 599)
    assert all(0.92 <= share <= 0.98 for share in found.values()), found


def test_plain_replicates_would_be_too_wide_for_independent_cells():
    rng = np.random.default_rng(0)
    found = two_way_bootstrap(mean_statistic(rng.normal(size=(60, 60))), rng, 1999)
    true = 1 / 60
    assert found.replicates[:, 0].std() / true == pytest.approx(math.sqrt(3), rel=0.15)
    assert found.spread(0).std() / true == pytest.approx(1, rel=0.25)


def test_one_row_gives_the_plain_bootstrap():
    x = np.random.default_rng(0).normal(size=200)
    found = two_way_bootstrap(mean_statistic(x[None]), np.random.default_rng(1), 1999).interval()
    low, high = np.array(found.to_list())
    assert high - low == pytest.approx(2 * 1.96 * x.std() / math.sqrt(200), rel=0.1)
    assert "bootstrap over 200 units" in found.method


def upper_limits(shape, simulations, skew):
    """Upper limits of D for skew-normal marginals, a quarter of the variance shared."""
    rng = np.random.default_rng(1)
    at = np.linspace(-6, 8, 20_001)
    below = stats.norm.cdf(at) - 2 * owens_t(at, skew)
    limits = []
    for _ in range(simulations):
        x = np.interp(stats.norm.cdf(crossed(rng, shape, (0.15, 0.1))), below, at)
        limits.append(misfit_bootstrap(x, rng, 199).upper(0).high)
    return np.array(limits)


AT_BOUND = 1.44266  # a skew-normal of this shape lies at D = 0.02 from its normal


def test_the_upper_limit_of_a_misfit_holds_it():
    assert np.mean(upper_limits((40, 40), 25, AT_BOUND) < 0.02) <= 0.05
    assert np.median(upper_limits((96, 96), 4, 0.0)) < 0.02


@pytest.mark.slow
def test_the_upper_limit_of_a_misfit_holds_it_at_full_size():
    assert np.mean(upper_limits((128, 128), 200, AT_BOUND) < 0.02) <= 0.05


@pytest.mark.parametrize("shape", [(35, 1), (7, 5)])
def test_equal_values_have_a_point_or_a_reason(shape):
    grid, rng = np.full(shape, 3.0), np.random.default_rng(0)
    found = two_way_bootstrap(shape_statistic(grid), rng, 199)
    if min(shape) > 5 or shape[1] == 1:
        point = found.interval(0)
        assert (point.to_list(), point.reason) == ([3.0, 3.0], "all resamples are equal")
    else:
        assert "5 clusters are too few" in found.interval(0).reason
    assert found.tail_interval(2).reason == "the statistic is not defined here"
    assert two_way_bootstrap(LShape(OrderedGrid.of(grid)), rng, 199).interval(0).to_list() is None


def test_few_resamples_are_refused():
    with pytest.raises(InputError, match="resamples is 50; limits at 95 % need at least 99"):
        two_way_bootstrap(mean_statistic(np.ones((8, 8))), np.random.default_rng(0), 50)


LARGE = """
import re, numpy as np
from dcnbio.analysis.scales.distribution import shape_estimates
rng = np.random.default_rng(0)
for n in ({sizes}):
    shape_estimates(2 ** rng.normal(0, 2 / 3, size=(n, n)), rng, resamples={resamples})
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def peak_kilobytes(sizes, resamples):
    code = LARGE.format(sizes=sizes, resamples=resamples)
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_resampling_a_convolution_never_holds_all_resamples():
    assert peak_kilobytes("64,", 4999) < 280_000  # 4,096 x 4,999 numbers are 164 MB beside 110 of Python and SciPy


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_43008_scales_with_9999_resamples_stay_under_1_gigabyte():
    assert peak_kilobytes("32, 32, 64, 64, 128, 128", 9999) < 1_000_000


def test_the_acceleration_of_a_mean_is_the_samples_skewness_over_six_roots_of_n():
    sample = np.random.default_rng(3).exponential(size=40)
    without = np.array([[np.delete(sample, i).mean()] for i in range(sample.size)])
    found = acceleration([without], 1)
    assert found == pytest.approx(stats.skew(sample) / (6 * math.sqrt(sample.size)))
    assert acceleration([np.ones((4, 1))], 1) == [0.0]
