"""Shares of filter shapes: of networks with an SRF stem, of one shape alone, and where nothing can be told."""

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.scales.kind_claims import beside_untrained, kind_claims, kind_grids
from dcnbio.analysis.scales.network import measure_network
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.moment_statistic import mean_statistic
from dcnbio.model.network import build
from dcnbio.probe.filters import record_filters


def claims_of(filters):
    return kind_claims(measure_network("mine", filters), np.random.default_rng(0), 199)


def of_odd_filters(row, **overrides):
    """A network whose filters are derivatives of first order alone."""
    filters = record_filters(build(row, seed=0, **overrides))
    for name, node in filters.children.items():
        first = node["order_y"] + node["order_x"] == 1
        filters[name] = xr.DataTree(node.to_dataset().assign(alpha=node["alpha"] * first))
    return filters


@pytest.mark.parametrize("row", ["dcn-full", "resnet-srf-full"])
def test_rows_with_an_srf_stem_have_intervals(row):
    for claim in claims_of(record_filters(build(row, seed=0, widths=(8, 16), norm_groups=8))):
        assert claim.interval.exists
        assert "the stem's over outputs, since its inputs are the three colours" in claim.interval.method
        assert claim.estimate in claim.interval
        assert "cannot be told" not in claim.conclusion


def test_a_network_of_odd_filters_alone_has_more_than_untrained_weights():
    odd, even, *_ = claims_of(of_odd_filters("dcn-full", widths=(8, 16), norm_groups=8))
    assert (odd.estimate, even.estimate) == pytest.approx((1, 0))
    assert odd.conclusion.startswith("100.0 % of this network's filters are odd: more than untrained weights")
    assert even.conclusion.startswith("0.0 % of this network's filters are even: fewer than untrained weights")
    # all are odd, yet another network's need not be: the limits are those of as many channels
    assert odd.interval.low == pytest.approx(0.025 ** (1 / (8 + 5 * 8 + 16)), abs=0.02)
    assert odd.interval.high == 1


def test_the_stem_is_resampled_over_its_outputs():
    """Colours that differ are no chance of the sample: outputs that are alike have an interval without width."""
    kind = np.tile([0, 1, 1], (32, 1))
    found = two_way_bootstrap(mean_statistic(*kind_grids("stem", kind)), np.random.default_rng(0), 199)
    assert (found.shape, found.estimate[:2].tolist()) == ((32, 1), pytest.approx([1 / 3, 2 / 3]))
    assert found.interval(0).low == pytest.approx(found.interval(0).high)
    layer = two_way_bootstrap(mean_statistic(*kind_grids("block1_conv1", kind)), np.random.default_rng(0), 199)
    assert layer.interval(0).reason == "3 clusters are too few to resample (at least 6)"


def test_what_cannot_be_told_is_not_called_no_difference():
    for claim in claims_of(of_odd_filters("dcn-ode", widths=(4, 4), norm_groups=4)):
        assert not claim.interval.exists
        assert "cannot be told (of block1_conv1 4 clusters are too few to resample (at least 6)" in claim.conclusion
        assert "no clearly other share" not in claim.conclusion
    assert beside_untrained(0.2, Interval(0.1, 0.3), 0.25).startswith("no clearly other share than untrained weights")
