"""The test of fit: 5 % false positives on log-normals, with shared channels too; power; stated answers."""

import math

import numpy as np
import pytest
from scipy import stats

from dcnbio.analysis.statistics.crossed_effects import crossed_effects
from dcnbio.analysis.statistics.goodness_of_fit import lognormal_goodness_of_fit
from dcnbio.errors import InputError

EFFECTS = [(0.0, 0.0), (0.1, 0.1), (0.3, 0.05)]
S = 2 / 3 * math.log(2)


def crossed(rng, shape, effects):
    rows, columns = effects
    grid = math.sqrt(1 - rows - columns) * rng.standard_normal(shape)
    return (
        grid + math.sqrt(rows) * rng.standard_normal((shape[0], 1)) + math.sqrt(columns) * rng.standard_normal(shape[1])
    )


def false_positives(effects, shape, simulations, resamples):
    rng = np.random.default_rng(7)
    p = [
        lognormal_goodness_of_fit(np.exp(S * crossed(rng, shape, effects)), rng, resamples).p
        for _ in range(simulations)
    ]
    return np.mean(np.array(p) <= 0.05)


@pytest.mark.parametrize("effects", EFFECTS)
def test_five_percent_of_lognormals_are_rejected(effects):
    assert 0.03 <= false_positives(effects, (12, 13), 300, 59) <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_five_percent_of_lognormals_are_rejected_at_full_size(effects):
    assert 0.03 <= false_positives(effects, (32, 33), 2000, 199) <= 0.07


def test_independent_values_in_one_dimension():
    rng = np.random.default_rng(8)
    p = [lognormal_goodness_of_fit(rng.lognormal(1, 2, size=40), rng, 59).p for _ in range(400)]
    assert 0.03 <= np.mean(np.array(p) <= 0.05) <= 0.07


def test_shared_channels_would_fool_a_test_that_ignores_them():
    rng = np.random.default_rng(9)
    grids = [np.exp(S * crossed(rng, (12, 13), (0.8, 0.1))) for _ in range(100)]
    ignoring = [lognormal_goodness_of_fit(grid.ravel(), rng, 59).p for grid in grids]
    assert np.mean(np.array(ignoring) <= 0.05) > 0.12


def test_the_null_is_that_of_lilliefors():
    rng = np.random.default_rng(0)
    x = rng.gamma(60.0, size=300)
    ours = lognormal_goodness_of_fit(np.exp(x), rng, 4999)
    theirs = stats.goodness_of_fit(stats.norm, x, statistic="ks", n_mc_samples=4999, rng=rng)
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.03)


def test_it_finds_what_is_not_lognormal():
    rng = np.random.default_rng(0)
    assert lognormal_goodness_of_fit(rng.uniform(0.5, 2, size=(20, 20)), rng, 99).p == 0.01


def test_the_unit_of_the_values_does_not_matter():
    sigma = np.random.default_rng(0).lognormal(size=(15, 16))
    found = [lognormal_goodness_of_fit(f * sigma, np.random.default_rng(1), 99) for f in (1, 1024)]
    assert found[0].p == found[1].p
    assert found[0].distance == pytest.approx(found[1].distance)


def test_degenerate_samples_have_an_answer():
    rng = np.random.default_rng(0)
    six = lognormal_goodness_of_fit([0.56, 0.60, 0.92, 0.99, 1.10, 1.55], rng)
    assert math.isnan(six.p)
    assert six.reason == "n too small (6 of at least 20)"
    assert 0 < six.distance < 1
    flat = lognormal_goodness_of_fit(np.full((10, 10), 2.0), rng)
    assert (flat.distance, flat.reason) == (0, "all 100 values are equal")
    with pytest.raises(InputError, match="resamples is 10; a test at 5 % needs at least 19"):
        lognormal_goodness_of_fit([1.0, 2.0], rng, 10)


def test_variance_components_are_recovered():
    rng = np.random.default_rng(0)
    found = [crossed_effects(crossed(rng, (60, 70), (0.3, 0.1))) for _ in range(40)]
    assert np.mean([one.rows for one in found]) == pytest.approx(0.3, abs=0.03)
    assert np.mean([one.columns for one in found]) == pytest.approx(0.1, abs=0.02)
    assert np.mean([one.cells for one in found]) == pytest.approx(0.6, abs=0.01)
    assert crossed_effects(np.ones((1, 5))).cells == 0
    with pytest.raises(InputError, match="grid has 1 dimensions"):
        crossed_effects(np.ones(5))
