"""Distances against scipy, ceilings against the published ones, verdicts with their error rates, and every control."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from dcnbio.analysis.primate import analyze_primate, binned_similarity, published_histogram, similarity_ceiling
from dcnbio.analysis.primate.binned_similarity import aligned_similarity, binned, scores, worst_distance
from dcnbio.analysis.primate.comparison import Published, Question, compared
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.published import PublishedHistogram, published_subsets, scale_invariance_slope
from dcnbio.analysis.primate.questions import asked
from dcnbio.analysis.primate.statistic import skewness, slope, spread
from dcnbio.analysis.primate.verdict import holm, verdicts
from dcnbio.errors import InputError
from dcnbio.images.shipped import shipped

CEILINGS = {
    "peak_spatial_frequency": "Marques2020_DeValois1982-peak_sf",
    "preferred_orientation": "Marques2020_DeValois1982-pref_or",
    "surround_suppression_index": "Marques2020_Cavanaugh2002-surround_suppression_index",
    "grating_summation_field": "Marques2020_Cavanaugh2002-grating_summation_field",
    "surround_diameter": "Marques2020_Cavanaugh2002-surround_diameter",
}


def histogram(counts, edges=None) -> PublishedHistogram:
    edges = np.arange(len(counts) + 1.0) if edges is None else edges
    return PublishedHistogram("made", "all", False, edges, np.array(counts), "made", "1")


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_scipys_on_random_histograms(seed):
    rng = np.random.default_rng(seed)
    published = histogram(rng.integers(1, 30, 7))
    values = rng.uniform(-1, 8, 40)
    bins = binned(values, published)
    # the two-sample statistic of values that all sit at their bin
    data = np.repeat(np.arange(7), published.counts)
    expected = stats.ks_2samp(bins, data).statistic
    found = (1 - scores(bins[None], published)[0]) * worst_distance(published)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_degenerate_model_scores_nothing():
    published = histogram([5, 10, 30])
    assert scores(np.zeros((1, 9), int), published)[0] == pytest.approx(0.0)
    assert scores(np.full((1, 9), 2), published)[0] > 0


@pytest.mark.parametrize("quantity", CEILINGS)
def test_ceilings_are_those_that_are_published(quantity):
    with open(shipped("primate/similarity_ceilings.csv"), newline="", encoding="utf-8") as file:
        table = {row["item"]: float(row["value"]) for row in csv.DictReader(file) if row["kind"] == "ceiling"}
    found, _ = similarity_ceiling(published_histogram(quantity), np.random.default_rng(0))
    assert found == pytest.approx(table[CEILINGS[quantity]], abs=0.006)


def test_a_model_drawn_from_the_data_scores_its_ceiling_and_a_shifted_one_does_not():
    rng, data = np.random.default_rng(0), published_histogram("peak_spatial_frequency")
    drawn = data.resampled(rng, 1, 5000)[0]
    ceiling, _ = similarity_ceiling(data, rng)
    assert binned_similarity(drawn, data, rng)[0] == pytest.approx(ceiling, abs=0.01)
    assert binned_similarity(drawn + 1.5, data, rng)[0] < ceiling - 0.2
    # the aligned measure does not see the shift
    assert aligned_similarity(drawn + 1.5, data, rng)[0] == pytest.approx(ceiling, abs=0.02)


def test_no_value_is_refused():
    with pytest.raises(InputError, match="holds no number"):
        binned_similarity(np.array([np.nan]), histogram([1, 2]), np.random.default_rng(0))


def test_published_counts_are_those_of_the_studies():
    assert published_histogram("peak_spatial_frequency").n == 363
    assert published_histogram("preferred_orientation").n == 385
    assert published_histogram("surround_suppression_index").n == 190
    assert published_histogram("grating_summation_field").n == 148
    assert published_histogram("nx").n == published_histogram("ny").n == 79
    assert (
        sum(one.n for name, one in published_subsets("peak_spatial_frequency").items() if "pooled" not in name) == 363
    )
    assert scale_invariance_slope("log2(sigma_f)") == (0.29, 1.0)
    assert scale_invariance_slope("sigma_log(f)") == (-0.31, 0.0)


def test_moments_are_those_computed_beside_the_tables():
    with open(shipped("primate/histogram_moments.csv"), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] in ("Cavanaugh2002a", "Schiller1976c")]
    for row in rows:
        subsets = published_subsets(row["quantity"])
        values = subsets[row["subset"]].spread_values()
        assert np.median(values) == pytest.approx(float(row["median"]), abs=0.06 * values.std())
        assert spread(values) == pytest.approx(float(row["sd"]), rel=0.02)


def test_statistics_are_scipys():
    values = np.random.default_rng(0).gamma(2.0, size=(3, 40))
    np.testing.assert_allclose(skewness(values), stats.skew(values, axis=-1))
    x, y = values[:2]
    assert slope(np.stack([y, x])) == pytest.approx(stats.linregress(x, y).slope)


def test_truncation_keeps_a_window_around_the_median():
    whole = published_histogram("peak_spatial_frequency")
    cut = whole.truncated(3.9)
    assert cut.edges[-1] - cut.edges[0] <= 4.5
    assert cut.n < whole.n
    assert cut.edges[0] < np.median(whole.spread_values()) < cut.edges[-1]


def test_holm_is_as_in_a_worked_example():
    assert holm([0.01, 0.02, 0.03, 0.005]) == [0.03, 0.04, 0.04, 0.02]


def question(bound: float, data: PublishedHistogram) -> Question:
    return Question("made", "1", "median", Published("made", data, n=data.n), bound, "made")


def test_verdicts_keep_their_error_rates():
    rng, several = np.random.default_rng(1), 6
    data = histogram([10, 20, 40, 20, 10], np.linspace(-2.5, 2.5, 6))
    unlike = like = 0
    repeats = 120
    for _ in range(repeats):
        truth = [data.resampled(rng, 1, 40)[0] for _ in range(several)]
        same = [compared(question(0.05, data), Units(values, 0, 0), rng, 499) for values in truth]
        unlike += "unlike" in verdicts([one.draws for one in same], [0.05] * several)
        # an effect that lies on the bound must not be called like more than one time in twenty
        edge = compared(question(1.0, data), Units(data.resampled(rng, 1, 40)[0] + 1.0, 0, 0), rng, 499)
        like += verdicts([edge.draws], [1.0]) == ["like"]
    # of 120: 5 % and three standard errors
    assert unlike <= 13
    assert like <= 13


def test_a_far_effect_is_unlike_and_a_certain_nothing_is_like():
    rng = np.random.default_rng(2)
    data = histogram([50, 100, 200, 100, 50], np.linspace(-2.5, 2.5, 6))
    far = compared(question(0.5, data), Units(rng.normal(3, 1, 200), 0, 0), rng)
    near = compared(question(0.5, data), Units(data.resampled(rng, 1, 400)[0], 0, 0), rng)
    assert verdicts([far.draws, near.draws], [0.5, 0.5]) == ["unlike", "like"]


def made_measures(n: int = 64, seed: int = 0, **changed) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    frequency = 2.0 ** rng.normal(-3, 0.8, n).clip(-4.9, -1)
    octaves = rng.normal(1.6, 0.2, n)
    size = 2.0 ** rng.normal(2.5, 1.0, n)
    values = {
        "preferred_spatial_frequency": frequency,
        "spatial_frequency_bandwidth": octaves,
        "bandwidth_index": rng.normal(46, 13, n).clip(1, 99),
        "preferred_orientation": rng.uniform(0, 180, n),
        "suppression_index": rng.beta(1.2, 1.6, n),
        "suppression_index_frozen": np.zeros(n),
        "summation_diameter": size,
        "summation_diameter_low_contrast": size * 2.3,
        "summation_diameter_law": size,
        "surround_ratio": 2.0 ** rng.normal(1.4, 1.0, n),
        "surround_ratio_frozen": 2.0 ** rng.normal(1.4, 1.0, n),
        "field_sigma_gradient": 0.3 / frequency,
        "field_width_nx": 2.0 ** rng.normal(-1.49, 0.6, n),
        "peak_time": np.full(n, 1.0),
        "peak_time_low_contrast": np.full(n, 1.5),
    }
    values |= changed
    data = {name: ("unit", array) for name, array in values.items()}
    data["responsive"] = ("unit", np.ones(n, bool))
    coords = {"block": ("unit", np.ones(n, int)), "channel": ("unit", np.arange(n))}
    return xr.Dataset(data, coords, {"network": "made", "weights": "none"})


def by_name(found) -> dict[str, dict]:
    return {row["name"]: row for row in found.comparisons}


def test_every_comparison_is_complete_and_made_cells_come_out_as_made():
    found = analyze_primate(made_measures(400))
    rows = by_name(found)
    keys = {"name", "n_model", "n_data", "effect", "interval", "bound", "verdict", "reason", "controls"}
    assert all(keys <= set(row) for row in rows.values())
    assert sum(bool(row["verdict"]) for row in rows.values()) == len(asked()) == 13
    json.dumps(found.comparisons, allow_nan=False)
    assert rows["slope of log2(1/width) against log2 preferred frequency"]["verdict"] == "unlike"
    assert rows["bandwidth index 100 f_low / f_high, median"]["verdict"] == "like"
    assert rows["growth of the summation field at low contrast beyond the law's"]["verdict"] == "like"
    assert rows["peak time at low contrast, median of log2(low / high)"]["verdict"].startswith("like")
    assert "training seed" in found.conclusion


def test_what_an_untrained_network_does_too_is_built_in():
    same = analyze_primate(made_measures(400), made_measures(400, seed=1))
    row = by_name(same)["bandwidth index 100 f_low / f_high, median"]
    assert row["verdict"] == "like, built in"
    assert "untrained network does the same" in row["reason"]
    assert row["controls"]["untrained_verdict"] == "like"


def test_what_the_norm_alone_does_is_built_in():
    rows = by_name(analyze_primate(made_measures(2000)))
    row = rows["suppression index, median"]
    assert row["controls"]["with_norm_statistics_held"] == 0.0
    assert row["verdict"].endswith("built in") or row["verdict"] == "cannot tell"


def test_earlier_at_low_contrast_is_unlike_cortex_and_the_norms_doing():
    earlier = made_measures(peak_time_low_contrast=np.full(64, 0.25))
    row = by_name(analyze_primate(earlier))["peak time at low contrast, median of log2(low / high)"]
    assert row["verdict"] == "unlike, built in"
    assert "contrast-time law" in row["reason"]


def test_degrees_are_left_out_unless_they_are_declared():
    without = by_name(analyze_primate(made_measures()))["summation diameter, median of log2 deg"]
    assert (without["verdict"], without["effect"]) == (None, None)
    assert "--degrees-per-pixel" in without["reason"]
    declared = by_name(analyze_primate(made_measures(), degrees_per_pixel=0.1))[
        "summation diameter, median of log2 deg"
    ]
    expected = 2.5 + np.log2(0.1) - np.median(published_histogram("grating_summation_field").spread_values())
    assert declared["effect"] == pytest.approx(expected, abs=0.5)
    with pytest.raises(InputError, match="degrees_per_pixel is -1"):
        analyze_primate(made_measures(), degrees_per_pixel=-1)


def test_too_few_units_say_so():
    rows = by_name(analyze_primate(made_measures(4)))
    row = rows["suppression index, median"]
    assert (row["verdict"], row["interval"], row["effect"]) == (None, None, None)
    assert "only 4 units" in row["reason"]


def test_measures_that_lack_something_are_refused():
    with pytest.raises(InputError, match="measures lacks bandwidth_index"):
        analyze_primate(made_measures().drop_vars("bandwidth_index"))


def test_the_result_keeps_its_comparisons():
    tree = analyze_primate(made_measures()).to_tree()
    claims = json.loads(tree.attrs["claims"])
    assert len(claims) == tree.sizes["comparison"] == 17
    assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claims[0])
    assert claims[0]["name"] == "preferred spatial frequency, sd of log2 (octaves)"
    assert {claim["unit"] for claim in claims} == {"units"}


def test_octave_bandwidth_is_compared_as_the_standard_deviation_that_was_published():
    measures = made_measures(400)
    frequency = np.log2(measures["preferred_spatial_frequency"].values)
    # macaque: -0.31 octaves of standard deviation per octave; a Gaussian is 2.355 of them wide at half height
    width = 2.3548 * (0.8 - 0.31 * (frequency - frequency.mean()))
    measures = measures.assign(spatial_frequency_bandwidth=("unit", width))
    row = by_name(analyze_primate(measures))["slope of octave bandwidth against log2 preferred frequency"]
    assert row["effect"] == pytest.approx(0.0, abs=1e-3)
    assert row["verdict"] == "like"


def test_an_untrained_network_on_the_other_side_of_the_data_builds_nothing_in():
    trained = made_measures(400, bandwidth_index=np.full(400, 90.0))
    other = made_measures(400, bandwidth_index=np.full(400, 10.0))
    row = by_name(analyze_primate(trained, other))["bandwidth index 100 f_low / f_high, median"]
    assert (row["verdict"], row["controls"]["untrained_verdict"]) == ("unlike", "unlike")


def test_units_of_deeper_blocks_are_not_held_against_v1():
    both = xr.concat([made_measures(), made_measures(seed=1).assign_coords(block=("unit", np.full(64, 2)))], "unit")
    assert analyze_primate(both).comparisons[0]["n_model"] == 64
    with pytest.raises(InputError, match="holds no unit of block 1"):
        analyze_primate(both.isel(unit=slice(64, None)))
