"""The comparison with the primate on made units: every comparison, every reason, and the command."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.primate import analyze_primate, published_histogram
from dcnbio.analysis.primate.likeness import similarities
from dcnbio.analysis.primate.questions import asked
from dcnbio.analysis.statistics.own_generator import own_generator
from dcnbio.commands.analyze_primate import primate
from dcnbio.commands.options import Where
from dcnbio.commands.primate_report import report
from dcnbio.errors import InputError


def test_every_comparison_is_complete_and_made_cells_come_out_as_made(made_measures, compare, by_name):
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


def test_degrees_are_left_out_unless_they_are_declared(made_measures, compare, by_name):
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


def test_units_of_declared_degrees_that_are_the_published_cells_score_their_ceiling(made_measures):
    cells = 2.0 ** published_histogram("peak_spatial_frequency").spread_values()  # cycles/deg
    made = made_measures(len(cells), preferred_spatial_frequency=cells * 0.05)  # cycles/pixel
    scores = {}
    for degrees in (0.05, 0.2):
        found = similarities(made, partial(own_generator, 0), degrees)
        scores[degrees] = {(one["name"], one["measure"]): one["of_ceiling"] for one in found}
    right = ("preferred_spatial_frequency", "binned-KS")
    assert scores[0.05][right] == pytest.approx(1, abs=0.01)
    assert scores[0.2][right] < 0.7
    aligned = ("preferred_spatial_frequency", "aligned binned-KS")
    assert scores[0.2][aligned] == pytest.approx(1, abs=0.02)


def test_both_distributions_stand_with_each_comparison(made_measures, compare, by_name):
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


def test_too_few_units_say_so(made_measures, compare, by_name):
    rows = by_name(compare(made_measures(4)))
    row = rows["suppression index, median"]
    assert (row["verdict"], row["interval"], row["effect"]) == (None, None, None)
    assert "only 4 units" in row["reason"]


def test_measures_that_lack_something_are_refused(made_measures, compare):
    with pytest.raises(InputError, match="measures lacks bandwidth_index"):
        compare(made_measures().drop_vars("bandwidth_index"))


def test_the_result_keeps_its_comparisons(made_measures, compare):
    tree = compare(made_measures()).to_tree()
    claims = json.loads(tree.attrs["claims"])
    assert len(claims) == tree.sizes["comparison"] == 21
    assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claims[0])
    assert claims[0]["name"] == "preferred spatial frequency, sd of log2 (octaves)"
    assert {claim["unit"] for claim in claims} == {"units"}


def test_octave_bandwidth_is_compared_as_the_standard_deviation_that_was_published(made_measures, compare, by_name):
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


def test_units_of_deeper_blocks_are_not_held_against_v1(made_measures, compare):
    both = xr.concat([made_measures(), made_measures(seed=1).assign_coords(block=("unit", np.full(64, 2)))], "unit")
    assert compare(both).comparisons[0]["n_model"] == 64
    with pytest.raises(InputError, match="holds no unit of block 1"):
        compare(both.isel(unit=slice(64, None)))


def test_what_is_printed_fits_a_terminal_and_shows_adjusted_intervals_and_theory(made_measures, compare):
    text = report(compare(made_measures(), made_measures(seed=1), made_measures(seed=2)))
    assert max(map(len, text.splitlines())) <= 80
    for said in ("Holm's 95 %", "N-jet 1", "29", "effect at worst", "joint binned-KS"):
        assert said in text


def test_blocks_are_described_by_their_ratio(made_measures, compare, by_name):
    deeper = made_measures(seed=1).assign_coords(block=("unit", np.full(64, 2)))
    deeper["field_sigma_moments"] = deeper["field_sigma_moments"] * 2
    row = by_name(compare(xr.concat([made_measures(seed=1), deeper], "unit")))["size ratio of successive levels"]
    assert row["controls"]["block 2 / 1"] == pytest.approx(2.0)
    assert row["verdict"] is None


def test_the_command_prints_every_comparison_as_json_and_overwrites_nothing(
    monkeypatch, capsys, tmp_path, made_measures
):
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
