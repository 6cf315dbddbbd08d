"""What an untrained network, the norm or the law does too is built in; controls stand beside every comparison."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dcnbio.commands.analyze_primate import as_json, ode_net_control
from dcnbio.commands.primate_report import report


def test_what_an_untrained_network_does_too_is_built_in(made_measures, compare, by_name):
    same = compare(made_measures(400), made_measures(400, seed=1))
    row = by_name(same)["bandwidth index 100 f_low / f_high, median"]
    assert row["verdict"] == "like, built in"
    assert "untrained network does the same" in row["reason"]
    assert row["controls"]["untrained_verdict"] == "like"


@pytest.mark.parametrize(("octaves", "verdict"), [(0.0, "unlike, built in"), (-2.0, "unlike")])
def test_what_an_untrained_network_is_as_far_from_is_built_in_though_its_own_verdict_is_open(
    octaves, verdict, made_measures, compare, by_name
):
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
def test_likeness_that_an_untrained_network_has_too_is_built_in_though_its_own_verdict_is_open(
    shift, verdict, made_measures, compare, by_name
):
    made, index = made_measures(400), made_measures(400)["bandwidth_index"].values
    few = made.assign(bandwidth_index=("unit", np.where(np.arange(400) < 220, np.nan, index + shift)))
    row = by_name(compare(made, few))["bandwidth index 100 f_low / f_high, median"]
    assert row["controls"]["untrained_verdict"] != "like"
    assert row["verdict"] == verdict


def test_what_the_norm_alone_does_is_built_in(made_measures, compare, by_name):
    rows = by_name(compare(made_measures(400)))
    row = rows["suppression index, median"]
    assert row["controls"]["octaves_with_norm_statistics_held"] == 0.0
    assert row["controls"]["norms_share"] == 1.0
    assert (row["verdict"], row["bound"], row["interval_holm"]) == (None, None, None)
    assert "described without verdict" in row["reason"]
    assert "with the norms' statistics held it is 0 octaves" in row["reason"]


@pytest.mark.parametrize(("held", "verdict"), [(1.3, "like, built in"), (2.1, "like")])
def test_the_norms_share_is_judged_in_octaves(held, verdict, made_measures, compare, by_name):
    # a ratio of 2.19 is 1.13 octaves; held at 1.3 it is 0.38 of them, though 1.3 is more than half of 2.19
    ratio = 2.0 ** np.random.default_rng(0).normal(1.13, 0.5, 400)
    made = made_measures(400, surround_ratio=ratio, surround_ratio_frozen=np.full(400, held))
    row = by_name(compare(made))["surround / summation diameter, median of log2"]
    assert row["verdict"] == verdict
    assert row["controls"]["norms_share"] == pytest.approx(1 - np.log2(held) / row["model"], abs=1e-9)


def test_earlier_at_low_contrast_is_unlike_cortex_and_the_norms_doing(made_measures, compare, by_name):
    earlier = made_measures(peak_time_low_contrast=np.full(64, 0.25), peak_time_law=np.full(64, 1.0))
    row = by_name(compare(earlier))["peak time at low contrast, median of log2(low / high)"]
    assert row["verdict"] == "unlike, built in"
    assert "the contrast-time law alone gives -2 octaves" in row["reason"]
    # where the law would give the other sign, it is not the law's doing
    against = made_measures(peak_time_low_contrast=np.full(64, 0.25), peak_time_law=np.full(64, 0.1))
    row = by_name(compare(against))["peak time at low contrast, median of log2(low / high)"]
    assert row["verdict"] == "unlike"


def test_growth_that_the_law_explains_is_not_beyond_it(made_measures, compare, by_name):
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


def test_sizes_stand_beside_the_law_and_frozen_norms(made_measures, compare, by_name):
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


def test_an_untrained_network_on_the_other_side_of_the_data_builds_nothing_in(made_measures, compare, by_name):
    trained = made_measures(400, bandwidth_index=np.full(400, 90.0))
    other = made_measures(400, bandwidth_index=np.full(400, 10.0))
    row = by_name(compare(trained, other))["bandwidth index 100 f_low / f_high, median"]
    assert (row["verdict"], row["controls"]["untrained_verdict"]) == ("unlike", "unlike")


def test_an_ode_net_stands_beside_where_one_is_given(made_measures, compare, by_name):
    found = compare(made_measures(), None, made_measures(seed=1).assign_attrs(network="ode-net", weights="sha256:1"))
    controls = by_name(found)["bandwidth index 100 f_low / f_high, median"]["controls"]
    assert {"ode_net_effect", "ode_net_verdict", "minus_ode_net", "minus_ode_net_interval"} <= set(controls)
    assert found.beside == "ode-net"
    assert found.beside_weights == as_json(found)["beside_weights"] == {"ode-net": "sha256:1"}
    assert json.loads(found.to_tree().attrs["beside_weights"]) == found.beside_weights
    assert compare(made_measures()).beside == "none; no trained ode-net"


def test_a_control_that_has_no_value_says_why(made_measures, compare, by_name):
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
