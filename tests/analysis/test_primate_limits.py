"""Units without a value, limits, and the published range in the comparison with the primate."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.primate.frequency_questions import preferred_frequency
from dcnbio.analysis.primate.model_values import log_ratio
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.size_questions import summation


def test_units_that_do_not_respond_count_and_a_verdict_must_stand_wherever_they_lie(made_measures, compare, by_name):
    name, n = "bandwidth index 100 f_low / f_high, median", 400
    index = np.random.default_rng(0).normal(75, 4, n)
    all_respond = by_name(compare(made_measures(n, bandwidth_index=index)))[name]
    assert (all_respond["verdict"], all_respond["n_missing"], all_respond["worst_case"]) == ("unlike", 0, None)
    for silent, verdict in ((20, "unlike"), (220, "cannot tell")):
        responsive = ("unit", np.arange(n) >= silent)
        row = by_name(compare(made_measures(n, bandwidth_index=index).assign(responsive=responsive)))[name]
        assert (row["n_model"], row["n_missing"], row["verdict"]) == (n, silent, verdict)
        low, high = row["worst_case"]
        assert low <= row["effect"] <= high
        assert f"{silent} without a known value" in row["reason"]
    assert low == pytest.approx(-row["data"])  # more than half at 0 put the median there
    assert "not under every other reading" in row["reason"]


def test_limits_count_as_limits(made_measures, compare, by_name):
    n = 400
    index = np.random.default_rng(0).normal(60, 5, n)
    limits = made_measures(n, bandwidth_index=index).assign(
        censored_bandwidth_index=("unit", np.random.default_rng(1).random(n) < 0.3)
    )
    name = "bandwidth index 100 f_low / f_high, median"
    row, plain = (by_name(compare(one))[name] for one in (limits, made_measures(n, bandwidth_index=index)))
    # upper limits say that the truth lies below, so the median does
    assert row["model"] < plain["model"] - 0.5
    assert row["n_censored"] == pytest.approx(0.3 * n, abs=30)


def test_a_peak_at_either_end_is_a_limit_on_that_side_and_at_the_end_of_what_was_shown(made_measures):
    flags = np.zeros(64, bool)
    flags[:2] = True
    frequency = np.full(64, 0.1)
    frequency[:2] = 1 / 30, 0.5
    made = made_measures(preferred_spatial_frequency=frequency)
    made["censored_preferred_spatial_frequency"] = ("unit", flags)
    units = preferred_frequency(made, ShownRange())
    assert units.side[:3].tolist() == [-1, 1, 0]
    assert units.ends == pytest.approx(ShownRange().ends("frequency"))


@pytest.mark.parametrize(("limit", "verdict"), [(3.0, "unlike"), (1.2, "cannot tell")])
def test_a_median_of_limits_is_a_limit_and_its_verdict_stands_wherever_they_lie(
    limit, verdict, made_measures, compare, by_name
):
    """Surrounds that go on beyond the image: macaque's ratio is 1.13 octaves, the bound 0.48."""
    spread = np.random.default_rng(0).normal(0, 0.1, 64)
    made = made_measures(surround_ratio=2.0 ** (limit + spread), suppression_index=np.full(64, 0.5))
    made["censored_surround_ratio"] = ("unit", np.arange(64) > 3)
    row = by_name(compare(made))["surround / summation diameter, median of log2"]
    assert row["model"] == pytest.approx(limit, abs=0.05)  # not the end of what could be found, 5 octaves
    assert row["worst_case"] == pytest.approx([row["effect"], 5 - row["data"]])
    assert row["verdict"].startswith(verdict)
    assert "the median is one too" in row["reason"]


def test_a_unit_that_still_grows_is_a_lower_limit_wherever_it_has_come_near_its_peak(made_measures):
    diameter = np.full(64, 8.0)
    diameter[:3] = 1.5, 3.0, 25.0
    made = made_measures(summation_diameter=diameter, suppression_index=np.full(64, 0.5))
    made["censored_summation_diameter"] = ("unit", np.arange(64) < 3)
    assert summation(made, ShownRange()).side[:4].tolist() == [-1, 1, 1, 0]


def test_nothing_is_known_of_a_ratio_whose_limits_pull_to_both_sides():
    data = {name: ("unit", [2.0, 2.0, 2.0]) for name in ("a", "b")}
    data |= {"censored_a": ("unit", [True, True, False]), "censored_b": ("unit", [True, False, True])}
    values, side = log_ratio(xr.Dataset(data | {"responsive": ("unit", [True] * 3)}), ("a", 1), ("b", 1), 0.0)
    assert np.isnan(values).tolist() == [True, False, False]
    assert side.tolist() == [0, 1, -1]


def test_the_published_range_does_not_follow_the_networks_median(made_measures, compare, by_name):
    name = "preferred spatial frequency, sd of log2"
    found = {
        by: by_name(compare(made_measures(200, preferred_spatial_frequency=2.0 ** (values + by))))[name]
        for by in (0.0, 0.8)
        for values in [np.random.default_rng(0).normal(-3, 0.4, 200).clip(-4.5, -1.9)]
    }
    assert found[0.0]["data"] == found[0.8]["data"]
    assert len(found[0.0]["readings"]) == 2


def test_unfittable_fields_have_a_line_of_their_own(made_measures, compare, by_name):
    nx = 2.0 ** np.random.default_rng(0).normal(-1.49, 0.6, 64)
    nx[:16] = np.nan
    rows = by_name(compare(made_measures(field_width_nx=nx)))
    row = rows["share of fields that a Gabor function cannot fit"]
    assert (row["model"], row["n_model"], row["n_data"], row["verdict"]) == (0.25, 64, 79, None)
    assert row["model_interval"] == pytest.approx([0.160, 0.368], abs=1e-3)  # Wilson's, of 16 in 64
    assert rows["nx = sigma_x f of the field, median of log2"]["n_model"] == 48


@pytest.mark.parametrize(("clipped", "limit"), [(0.0, None), (0.6, "lower")])
def test_the_ratio_of_levels_is_a_limit_where_the_fields_of_the_deeper_one_are(
    clipped, limit, made_measures, compare, by_name
):
    deeper = made_measures(seed=2, field_sigma_moments=np.full(64, 8.0)).assign_coords(block=("unit", np.full(64, 2)))
    both = xr.concat([made_measures(field_sigma_moments=np.full(64, 2.0)), deeper], "unit")
    flags = (both["block"].values == 2) & (np.arange(128) % 64 < 64 * clipped)
    both["censored_field_sigma_moments"] = ("unit", flags)
    controls = by_name(compare(both))["size ratio of successive levels"]["controls"]
    assert (controls["block 2 / 1"], controls.get("block 2 / 1, limit")) == (4.0, limit)
