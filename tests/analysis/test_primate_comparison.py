"""The comparison with the primate on made units: every control, every reason, and what is built in."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.primate import analyze_primate, published_histogram
from dcnbio.analysis.primate.frequency_questions import preferred_frequency
from dcnbio.analysis.primate.likeness import similarities
from dcnbio.analysis.primate.model_values import log_ratio
from dcnbio.analysis.primate.questions import asked
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.size_questions import summation
from dcnbio.commands.analyze_primate import ode_net_control, primate
from dcnbio.commands.options import Where
from dcnbio.commands.primate_report import report
from dcnbio.errors import InputError


def compare(*measures, **options):
    return analyze_primate(*measures, draws=699, **options)


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
        "summation_diameter_law": size * 2.3,
        "surround_ratio": 2.0 ** rng.normal(1.4, 1.0, n),
        "surround_diameter": size * 2.6,
        "surround_ratio_frozen": 2.0 ** rng.normal(1.4, 1.0, n),
        "field_sigma_moments": 0.3 / frequency,
        "field_width_nx": 2.0 ** rng.normal(-1.49, 0.6, n),
        "field_width_ny": 2.0 ** rng.normal(-1.27, 0.9, n),
        "peak_time": np.full(n, 1.0),
        "peak_time_low_contrast": np.full(n, 1.5),
    }
    values |= changed
    data = {name: ("unit", array) for name, array in values.items()}
    data.setdefault("responsive", ("unit", np.ones(n, bool)))
    coords = {"block": ("unit", np.ones(n, int)), "channel": ("unit", np.arange(n))}
    return xr.Dataset(data, coords, {"network": "made", "weights": "none"})


def by_name(found) -> dict[str, dict]:
    return {row["name"]: row for row in found.comparisons}


def test_every_comparison_is_complete_and_made_cells_come_out_as_made():
    found = compare(made_measures(400))
    rows = by_name(found)
    keys = {
        "name",
        "n_model",
        "n_data",
        "effect",
        "interval",
        "interval_holm",
        "bound",
        "verdict",
        "reason",
        "controls",
    }
    assert all(keys <= set(row) for row in rows.values())
    assert all(row["verdict"] or row["reason"] for row in rows.values())
    assert sum(bool(row["verdict"]) for row in rows.values()) == len(asked()) - 2 == 13
    json.dumps(found.comparisons, allow_nan=False)
    assert rows["slope of log2(1/width) against log2 preferred frequency"]["verdict"] == "unlike"
    assert rows["bandwidth index 100 f_low / f_high, median"]["verdict"] == "like"
    grown = "growth of the summation field at low contrast beyond the law's, against {} times"
    assert rows[grown.format("2.3")]["verdict"] == "like"
    assert rows[grown.format("4")]["effect"] == pytest.approx(np.log2(2.3 / 4), abs=0.05)
    assert rows["peak time at low contrast, median of log2(low / high)"]["verdict"].startswith("like")
    assert "training seed" in found.conclusion


def test_what_an_untrained_network_does_too_is_built_in():
    same = compare(made_measures(400), made_measures(400, seed=1))
    row = by_name(same)["bandwidth index 100 f_low / f_high, median"]
    assert row["verdict"] == "like, built in"
    assert "untrained network does the same" in row["reason"]
    assert row["controls"]["untrained_verdict"] == "like"


@pytest.mark.parametrize(("octaves", "verdict"), [(0.0, "unlike, built in"), (-2.0, "unlike")])
def test_what_an_untrained_network_is_as_far_from_is_built_in_though_its_own_verdict_is_open(octaves, verdict):
    """Units without a value could lie anywhere, so of the untrained network nobody can tell; as far off it is."""
    growth = "growth of the summation field at low contrast beyond the law's, against 2.3 times"
    made = made_measures(400)
    size = made["summation_diameter"].values
    unlike = made.assign(summation_diameter_law=("unit", size * 1.01))  # the law explains all growth but a hundredth
    grown = size * 1.01 * 2.0**octaves
    grown[:250] = np.nan
    untrained = made.assign(summation_diameter_law=("unit", grown))
    row = by_name(compare(unlike, untrained))[growth]
    assert row["controls"]["untrained_verdict"] == "cannot tell"
    assert row["verdict"] == verdict
    assert ("differs from it by less than the bound" in row["reason"]) == (octaves == 0)


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "like, built in"), (-40.0, "like")])
def test_likeness_that_an_untrained_network_has_too_is_built_in_though_its_own_verdict_is_open(shift, verdict):
    made, index = made_measures(400), made_measures(400)["bandwidth_index"].values
    few = made.assign(bandwidth_index=("unit", np.where(np.arange(400) < 220, np.nan, index + shift)))
    row = by_name(compare(made, few))["bandwidth index 100 f_low / f_high, median"]
    assert row["controls"]["untrained_verdict"] != "like"
    assert row["verdict"] == verdict


def test_what_the_norm_alone_does_is_built_in():
    rows = by_name(compare(made_measures(400)))
    row = rows["suppression index, median"]
    assert row["controls"]["octaves_with_norm_statistics_held"] == 0.0
    assert row["controls"]["norms_share"] == 1.0
    assert (row["verdict"], row["bound"], row["interval_holm"]) == (None, None, None)
    assert "described without verdict" in row["reason"]
    assert "with the norms' statistics held it is 0 octaves" in row["reason"]


@pytest.mark.parametrize(("held", "verdict"), [(1.3, "like, built in"), (2.1, "like")])
def test_the_norms_share_is_judged_in_octaves(held, verdict):
    # a ratio of 2.19 is 1.13 octaves; held at 1.3 it is 0.38 of them, though 1.3 is more than half of 2.19
    ratio = 2.0 ** np.random.default_rng(0).normal(1.13, 0.5, 400)
    made = made_measures(400, surround_ratio=ratio, surround_ratio_frozen=np.full(400, held))
    row = by_name(compare(made))["surround / summation diameter, median of log2"]
    assert row["verdict"] == verdict
    assert row["controls"]["norms_share"] == pytest.approx(1 - np.log2(held) / row["model"], abs=1e-9)


def test_earlier_at_low_contrast_is_unlike_cortex_and_the_norms_doing():
    earlier = made_measures(peak_time_low_contrast=np.full(64, 0.25), peak_time_law=np.full(64, 1.0))
    row = by_name(compare(earlier))["peak time at low contrast, median of log2(low / high)"]
    assert row["verdict"] == "unlike, built in"
    assert "the contrast-time law alone gives -2 octaves" in row["reason"]
    # where the law would give the other sign, it is not the law's doing
    against = made_measures(peak_time_low_contrast=np.full(64, 0.25), peak_time_law=np.full(64, 0.1))
    row = by_name(compare(against))["peak time at low contrast, median of log2(low / high)"]
    assert row["verdict"] == "unlike"


def test_growth_that_the_law_explains_is_not_beyond_it():
    """The law gives the high contrast's field from the low one: if that is what was measured, nothing exceeds it."""
    base = made_measures()
    size = base["summation_diameter"].values
    question = "growth of the summation field at low contrast beyond the law's, against 2.3 times"
    explained = by_name(compare(made_measures(summation_diameter_law=size)))[question]
    assert explained["model"] == pytest.approx(0, abs=1e-9)
    assert explained["controls"]["by_law"] == pytest.approx(np.log2(2.3), abs=0.01)
    beyond = by_name(compare(base))[question]
    assert beyond["model"] == pytest.approx(np.log2(2.3), abs=0.01)
    assert beyond["controls"]["by_law"] == pytest.approx(0, abs=1e-9)


def test_sizes_stand_beside_the_law_and_frozen_norms():
    base = made_measures()
    size = base["summation_diameter"].values
    frozen = {"summation_diameter_frozen": size, "summation_diameter_low_contrast_frozen": 2 * size}
    found = compare(made_measures(summation_diameter_law=np.full(len(size), 5.0), **frozen))
    rows = by_name(found)
    sizes = rows["summation diameter, sd of log2"]
    assert sizes["controls"]["by_law"] == pytest.approx(0, abs=1e-12)
    assert sizes["controls"]["with_norm_statistics_frozen"] == pytest.approx(sizes["model"])
    growth = next(row for name, row in rows.items() if name.startswith("growth"))
    assert growth["controls"]["with_norm_statistics_frozen"] == pytest.approx(1, abs=0.01)
    assert "with_norm_statistics_frozen" not in by_name(compare(base))["summation diameter, sd of log2"]["controls"]
    header = next(line for line in report(found).splitlines() if "N-jet 1" in line)
    assert header.split()[-3:] == ["law", "norm", "held"]


def test_degrees_are_left_out_unless_they_are_declared():
    without = by_name(compare(made_measures()))["summation diameter, median of log2 deg"]
    assert (without["verdict"], without["effect"]) == (None, None)
    assert "--degrees-per-pixel" in without["reason"]
    declared = by_name(compare(made_measures(), degrees_per_pixel=0.1))["summation diameter, median of log2 deg"]
    expected = 2.5 + np.log2(0.1) - np.median(published_histogram("grating_summation_field").spread_values())
    assert declared["effect"] == pytest.approx(expected, abs=0.5)
    alike = {(one["name"], one["measure"]) for one in compare(made_measures()).similarities}
    more = {(one["name"], one["measure"]) for one in compare(made_measures(), degrees_per_pixel=0.1).similarities}
    in_degrees = ("preferred_spatial_frequency", "summation_diameter", "surround_diameter")
    assert more - alike == {(name, "binned-KS") for name in in_degrees}
    assert {(name, "aligned binned-KS") for name in in_degrees} <= alike
    with pytest.raises(InputError, match="degrees_per_pixel is -1"):
        compare(made_measures(), degrees_per_pixel=-1)
    with pytest.raises(InputError, match="draws is 99; Holm's first step needs"):
        analyze_primate(made_measures(), draws=99)


def test_units_of_declared_degrees_that_are_the_published_cells_score_their_ceiling():
    cells = 2.0 ** published_histogram("peak_spatial_frequency").spread_values()  # cycles/deg
    made = made_measures(len(cells), preferred_spatial_frequency=cells * 0.05)  # cycles/pixel
    scores = {}
    for degrees in (0.05, 0.2):
        found = similarities(made, np.random.default_rng(0), degrees)
        scores[degrees] = {(one["name"], one["measure"]): one["of_ceiling"] for one in found}
    right = ("preferred_spatial_frequency", "binned-KS")
    assert scores[0.05][right] == pytest.approx(1, abs=0.01)
    assert scores[0.2][right] < 0.7
    aligned = ("preferred_spatial_frequency", "aligned binned-KS")
    assert scores[0.2][aligned] == pytest.approx(1, abs=0.02)


def test_both_distributions_stand_with_each_comparison():
    made = made_measures(responsive=np.arange(64) > 3)
    found = compare(made)
    row = by_name(found)["preferred spatial frequency, sd of log2"]["distribution"]
    assert row["values"] == pytest.approx(np.log2(made["preferred_spatial_frequency"].values[4:]), rel=1e-4)
    assert row["limits"] == [0] * 60
    assert sum(row["published"]["counts"]) == 363
    assert len(row["published"]["edges"]) == len(row["published"]["counts"]) + 1
    slope = by_name(found)["slope of log2(1/width) against log2 preferred frequency"]["distribution"]
    assert slope["published"] is None
    assert len(slope["abscissa"]) == len(slope["values"]) == 60
    kept = json.loads(found.to_tree().attrs["distributions"])
    assert kept[0] == row
    assert "network, quartiles" in report(found)


def test_too_few_units_say_so():
    rows = by_name(compare(made_measures(4)))
    row = rows["suppression index, median"]
    assert (row["verdict"], row["interval"], row["effect"]) == (None, None, None)
    assert "only 4 units" in row["reason"]


def test_measures_that_lack_something_are_refused():
    with pytest.raises(InputError, match="measures lacks bandwidth_index"):
        compare(made_measures().drop_vars("bandwidth_index"))


def test_the_result_keeps_its_comparisons():
    tree = compare(made_measures()).to_tree()
    claims = json.loads(tree.attrs["claims"])
    assert len(claims) == tree.sizes["comparison"] == 21
    assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claims[0])
    assert claims[0]["name"] == "preferred spatial frequency, sd of log2 (octaves)"
    assert {claim["unit"] for claim in claims} == {"units"}


def test_octave_bandwidth_is_compared_as_the_standard_deviation_that_was_published():
    rng = np.random.default_rng(0)
    frequency = 2.0 ** rng.uniform(-4.5, -1.2, 400)
    octaves = np.log2(frequency)
    # macaque: -0.31 octaves of standard deviation per octave; a Gaussian falls to 0.707 at 0.8326 of it
    width = 2 * 0.832555 * (1.2 - 0.31 * (octaves - octaves.mean()))
    measures = made_measures(400, preferred_spatial_frequency=frequency, bandwidth_index=100 / 2**width)
    row = by_name(compare(measures))["slope of octave bandwidth against log2 preferred frequency"]
    assert row["effect"] == pytest.approx(0.0, abs=1e-3)
    assert row["verdict"] == "like"
    assert row["controls"]["njets"] == {"order 1": 0.0, "order 2": 0.0}


def test_an_untrained_network_on_the_other_side_of_the_data_builds_nothing_in():
    trained = made_measures(400, bandwidth_index=np.full(400, 90.0))
    other = made_measures(400, bandwidth_index=np.full(400, 10.0))
    row = by_name(compare(trained, other))["bandwidth index 100 f_low / f_high, median"]
    assert (row["verdict"], row["controls"]["untrained_verdict"]) == ("unlike", "unlike")


def test_units_of_deeper_blocks_are_not_held_against_v1():
    both = xr.concat([made_measures(), made_measures(seed=1).assign_coords(block=("unit", np.full(64, 2)))], "unit")
    assert compare(both).comparisons[0]["n_model"] == 64
    with pytest.raises(InputError, match="holds no unit of block 1"):
        compare(both.isel(unit=slice(64, None)))


def test_units_that_do_not_respond_count_and_a_verdict_must_stand_wherever_they_lie():
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


def test_limits_count_as_limits():
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


def test_a_peak_at_either_end_is_a_limit_on_that_side_and_at_the_end_of_what_was_shown():
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
def test_a_median_of_limits_is_a_limit_and_its_verdict_stands_wherever_they_lie(limit, verdict):
    """Surrounds that go on beyond the image: macaque's ratio is 1.13 octaves, the bound 0.48."""
    spread = np.random.default_rng(0).normal(0, 0.1, 64)
    made = made_measures(surround_ratio=2.0 ** (limit + spread), suppression_index=np.full(64, 0.5))
    made["censored_surround_ratio"] = ("unit", np.arange(64) > 3)
    row = by_name(compare(made))["surround / summation diameter, median of log2"]
    assert row["model"] == pytest.approx(limit, abs=0.05)  # not the end of what could be found, 5 octaves
    assert row["worst_case"] == pytest.approx([row["effect"], 5 - row["data"]])
    assert row["verdict"].startswith(verdict)
    assert "the median is one too" in row["reason"]


def test_a_unit_that_still_grows_is_a_lower_limit_wherever_it_has_come_near_its_peak():
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


def test_the_published_range_does_not_follow_the_networks_median():
    name = "preferred spatial frequency, sd of log2"
    found = {
        by: by_name(compare(made_measures(200, preferred_spatial_frequency=2.0 ** (values + by))))[name]
        for by in (0.0, 0.8)
        for values in [np.random.default_rng(0).normal(-3, 0.4, 200).clip(-4.5, -1.9)]
    }
    assert found[0.0]["data"] == found[0.8]["data"]
    assert len(found[0.0]["readings"]) == 2


def test_unfittable_fields_have_a_line_of_their_own():
    nx = 2.0 ** np.random.default_rng(0).normal(-1.49, 0.6, 64)
    nx[:16] = np.nan
    rows = by_name(compare(made_measures(field_width_nx=nx)))
    row = rows["share of fields that a Gabor function cannot fit"]
    assert (row["model"], row["n_model"], row["n_data"], row["verdict"]) == (0.25, 64, 79, None)
    assert row["model_interval"] == pytest.approx([0.160, 0.368], abs=1e-3)  # Wilson's, of 16 in 64
    assert rows["nx = sigma_x f of the field, median of log2"]["n_model"] == 48


def test_an_ode_net_stands_beside_where_one_is_given():
    found = compare(made_measures(), None, made_measures(seed=1).assign_attrs(network="ode-net"))
    controls = by_name(found)["bandwidth index 100 f_low / f_high, median"]["controls"]
    assert {"ode_net_effect", "ode_net_verdict", "minus_ode_net", "minus_ode_net_interval"} <= set(controls)
    assert found.beside == "ode-net"
    assert compare(made_measures()).beside == "none; no trained ode-net"


def test_a_control_that_has_no_value_says_why():
    few = np.full(64, np.nan)
    few[:5] = 0.4
    found = compare(made_measures(), made_measures(field_width_nx=few))
    controls = by_name(found)["nx = sigma_x f of the field, median of log2"]["controls"]
    assert controls["untrained_effect"] is None
    assert "only 5 units" in controls["untrained_reason"]


def test_the_ode_net_that_ships_is_the_control_of_other_rows_alone(monkeypatch):
    monkeypatch.setattr("dcnbio.model.loading.shipped_checkpoints", lambda: ["dcn-ode"])
    assert ode_net_control("dcn-ode") is None
    monkeypatch.setattr("dcnbio.model.loading.shipped_checkpoints", lambda: ["dcn-ode", "ode-net"])
    assert (ode_net_control("dcn-ode"), ode_net_control("ode-net")) == ("ode-net", None)


def test_what_is_printed_fits_a_terminal_and_shows_adjusted_intervals_and_theory():
    text = report(compare(made_measures(), made_measures(seed=1), made_measures(seed=2)))
    assert max(map(len, text.splitlines())) <= 80
    for said in ("Holm's 95 %", "N-jet 1", "29", "effect at worst", "joint binned-KS"):
        assert said in text


def test_blocks_are_described_by_their_ratio():
    deeper = made_measures(seed=1).assign_coords(block=("unit", np.full(64, 2)))
    deeper["field_sigma_moments"] = deeper["field_sigma_moments"] * 2
    row = by_name(compare(xr.concat([made_measures(seed=1), deeper], "unit")))["size ratio of successive levels"]
    assert row["controls"]["block 2 / 1"] == pytest.approx(2.0)
    assert row["verdict"] is None


def test_the_command_prints_every_comparison_as_json_and_overwrites_nothing(monkeypatch, capsys, tmp_path):
    pair = made_measures(), made_measures(seed=1), None
    monkeypatch.setattr("dcnbio.commands.analyze_primate.measured_networks", lambda *_: pair)
    out = tmp_path / "primate.nc"
    assert primate("dcn-ode", where=Where(out=out, json=True)) == 0
    found = json.loads(capsys.readouterr().out)
    keys = {"name", "n_model", "n_data", "effect", "interval", "bound", "verdict", "reason"}
    assert all(keys <= set(row) for row in found["comparisons"])
    assert sum(bool(row["verdict"]) for row in found["comparisons"]) == 13
    assert found["beside"] == "made; no trained ode-net"
    with pytest.raises(InputError, match="exists already"):
        primate("dcn-ode", where=Where(out=out))


def test_a_scale_without_size_is_refused():
    from dcnbio.commands.analyze_primate import HowMuch, measured_networks

    with pytest.raises(InputError, match="--degrees-per-pixel is 0"):
        measured_networks("dcn-ode", None, HowMuch(degrees_per_pixel=0.0))
    with pytest.raises(InputError, match="--degrees-per-pixel is inf; it must be positive and finite"):
        measured_networks("dcn-ode", None, HowMuch(degrees_per_pixel=float("inf")))
    with pytest.raises(InputError, match="--seed is -1; give a whole number of 0 or more"):
        measured_networks("dcn-ode", None, HowMuch(seed=-1))
