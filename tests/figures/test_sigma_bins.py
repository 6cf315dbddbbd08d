"""Bars show the shape of every convolution's scales, however little training moved them from where they began."""

from __future__ import annotations

import numpy as np
import pytest

import dcnbio
from dcnbio.figures.sigma_distributions import BINS_TO_A_SIDE, WIDEST_BIN, bin_edges
from dcnbio.model.srf_conv import SRFConv2d


@pytest.mark.parametrize("name", ["dcn-sigma-ji", "dcn-sigma-ji-constant", "dcn-sigma-ji-log2-uniform"])
def test_no_bar_holds_most_filters_of_a_shipped_convolution(name):
    convs = [module for module in dcnbio.load(name).modules() if isinstance(module, SRFConv2d) and module.rule.per_pair]
    assert len(convs) == 6
    for conv in convs:
        logs = conv.log2_sigma.offset.detach().double().numpy().ravel()
        counts, edges = np.histogram(logs, bin_edges(logs))
        assert counts.max() < 0.4 * len(logs)
        assert counts.sum() > 0.98 * len(logs)
        assert len(edges) <= 2 * BINS_TO_A_SIDE + 1


@pytest.mark.parametrize("logs", [np.zeros(9), np.array([0.0] * 8 + [1.0]), np.array([0.3, 0.3, 0.3])])
def test_scales_that_are_all_alike_have_a_bar(logs):
    edges = bin_edges(logs)
    assert np.diff(edges) == pytest.approx(WIDEST_BIN)
    assert np.histogram(logs, edges)[0].sum() >= 0.8 * len(logs)
    assert len(edges) >= 2
