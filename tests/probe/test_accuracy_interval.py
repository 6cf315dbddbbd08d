"""Wilson's interval against SciPy's."""

import pytest
from scipy.stats import binomtest

from dcnbio.probe import accuracy_interval


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (737, 1000), (9999, 10000)])
@pytest.mark.parametrize("level", [0.68, 0.95, 0.99])
def test_interval_is_wilsons(right, n, level):
    expected = binomtest(right, n).proportion_ci(level, method="wilson")
    assert accuracy_interval(right, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)
