"""A limit keeps its mark on the way into claims, an unreadable fit enters no comparison, and parts share no draws."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.responses.claims import PLAIN, fit_claim
from dcnbio.analysis.responses.contrast_measures import contrast_fits, contrast_measures
from dcnbio.analysis.responses.field_growth import field_growth
from dcnbio.analysis.responses.in_time import contrast_in_time
from dcnbio.analysis.responses.intervention_change import OCTAVES, REPORTED, Changed, changes_beside_twin
from dcnbio.analysis.responses.level_ratios import level_claims
from dcnbio.analysis.responses.limits import SIDES, limit_sides
from dcnbio.analysis.responses.measure_names import CENSORED
from dcnbio.analysis.responses.naka_rushton import naka_rushton
from dcnbio.analysis.responses.predictions import PREDICTIONS
from dcnbio.analysis.responses.result import ResponsesResult, analyze_responses
from dcnbio.commands.responses_report import growth_table

N = 12
LIMITED = sorted(name for name in CENSORED if SIDES.get(name, 1) != 0 and not name.endswith("_frozen"))
COMPARED = {measure: one.name for one in PREDICTIONS for measure in one.needs[:1] if measure in LIMITED}


def table(weights, limits, block=1, seed=0):
    """Units whose measures are all known, or all limits."""
    rng = np.random.default_rng(seed)
    data = {name: ("unit", 2 + rng.random(N)) for name in LIMITED}
    data |= {f"censored_{name}": ("unit", np.full(N, limits)) for name in LIMITED}
    data |= {name: ("unit", np.ones(N, bool)) for name in ("responsive", "simple")}
    data |= {name: ("unit", rng.random(N)) for name in ("f1_f0", "suppression_index", "suppression_index_frozen")}
    places = {"block": ("unit", np.full(N, block)), "highest_frequency": ("unit", np.full(N, 0.5 / 2 ** (block - 1)))}
    return xr.Dataset(data, places, {"weights": weights, "network": weights, "settings": '{"diameters": [1.5, 30]}'})


def is_marked(claim):
    """Whether both the claim in JSON and its sentence tell of a limit."""
    return "limit" in claim.to_dict() and (">" in claim.conclusion or "<" in claim.conclusion)


def test_every_claim_made_from_limits_alone_says_so():
    known, limits, twin = table("own", False), table("own", True), table("twin", True)
    found = ResponsesResult(limits, twin, None)
    claims = {claim.name: claim for claim in analyze_responses(found).claims}
    names = [f"{PLAIN[name]}, median" for name in LIMITED if name in PLAIN]
    names += [f"{words}, median" for measure, words in COMPARED.items() if words not in ("c50 of contrast",)]
    names = [name for name in names if "quarter contrast" not in name and "full from low" not in name]
    assert len(names) > 8
    for name in names:
        assert is_marked(claims[name]), name
        assert "limit" in claims[name].to_dict()["control"], name
    changed = ResponsesResult(known, table("twin", False), None, changed={"norm=2": limits})
    changed = ResponsesResult(known, table("twin", False), None, {"norm=2": limits}, {}, {"norm=2": twin})
    claims = {claim.name: claim for claim in analyze_responses(changed).claims}
    for name in set(LIMITED) & set(REPORTED):
        (claim,) = (one for key, one in claims.items() if key.startswith(f"norm=2: change of {name} ("))
        assert is_marked(claim), name
        assert "limit" in claim.to_dict()["control"], name
        assert "octaves" in claim.name or name not in OCTAVES
    by_law = next(c for key, c in claims.items() if key.startswith("norm=2: change of peak_time ("))
    assert "from a lower contrast, >" in by_law.conclusion


@pytest.mark.parametrize(("first", "second", "limit"), [(False, True, 1), (True, False, -1), (True, True, 0)])
def test_a_ratio_has_the_limit_of_its_numerator_less_that_of_its_denominator(first, second, limit):
    both = xr.concat([table("own", first, 1), table("own", second, 2)], "unit", combine_attrs="override")
    claims = {claim.name: claim for claim in level_claims(both, None)}
    ratio = claims["block 2 over 1: sigma of the local field, ratio of medians"]
    assert ratio.limit == limit
    if limit:
        assert is_marked(ratio)
        assert f"a ratio of {'>' if limit > 0 else '<'}" in ratio.conclusion
    else:
        assert np.isnan(ratio.estimate)
        assert "a ratio that is not known" in ratio.conclusion


def test_growth_to_a_field_that_leaves_the_image_is_a_limit():
    y, x = np.mgrid[:32, :32]

    def local(*sigmas):
        maps = np.stack([np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * sigma**2)) for sigma in sigmas])[:, None]
        return xr.Dataset({"local": (("time", "unit", "y", "x"), maps)}, {"time": [0.0, 1.0]})

    growth = field_growth({1: local(2.0, 3.0), 2: local(3.0, 9.0)}, {1: [1.0], 2: [1.0]}, {1: 1.0, 2: 2.0})
    assert growth["limit"].values.tolist() == [[0, 0], [0, 1]]
    made = analyze_responses(ResponsesResult(table("own", False), None, growth))
    claims = {claim.name: claim for claim in made.claims}
    grown = claims["block 2: sigma of the local field at T (pixels), median"]
    assert is_marked(grown)
    assert "that of >" in grown.conclusion
    assert not is_marked(claims["block 1: sigma of the local field at T (pixels), median"])
    assert is_marked(claims["block 2 over 1: sigma of the local field at T, ratio"])
    last = growth_table(growth).splitlines()[-1].split()
    assert [cell[0] == ">" for cell in last] == [False, False, False, True, False, False, False, True]


CONTRAST = np.geomspace(0.12, 0.96, 7)
GOOD = naka_rushton(CONTRAST, 1.0, 0.4, 2.0, 0.0)
RESPONSES = {
    "good": GOOD,
    "exponent at 10": np.where(CONTRAST < 0.3, 0.0, 1.0),
    "R2 of 0": 1 - 0.5 * CONTRAST,
    "silent": np.zeros(7),
    "above": naka_rushton(CONTRAST, 5.0, 3.0, 2.0, 0.0),
    "below": naka_rushton(CONTRAST, 1.0, 0.06, 3.0, 0.0),
}
PARAMETERS = ("r_max", "c50", "exponent", "baseline")


def recording(responses):
    """Responses at the last of five times to each contrast; the blank's are 0."""
    share = np.linspace(0, 1, 5)
    z = np.stack(list(responses), -1)[:, None, :] * share[:, None]
    variables = {"z": (("contrast", "time", "unit"), z), "z_blank": (("time", "unit"), np.zeros((5, z.shape[-1])))}
    places = {"contrast": CONTRAST, "time": share, "integration_time": ("unit", np.ones(z.shape[-1]))}
    return xr.Dataset(variables, places)


def fitted(responses):
    """Units with what can be read of their fits."""
    data = {name: ("unit", values) for name, values in contrast_fits(recording(responses)).items()}
    about = {"settings": '{"lowest_contrast": 0.12}'}
    return xr.Dataset(data, {"block": ("unit", np.ones(len(responses), int))}, about)


def test_a_fit_that_describes_nothing_is_read_nowhere():
    units = fitted(list(RESPONSES.values()))
    read = {name: np.isfinite(units[name].values).tolist() for name in PARAMETERS}
    assert read["r_max"] == read["exponent"] == read["baseline"] == [True, *[False] * 5]
    assert read["c50"] == [True, False, False, False, True, True]
    assert np.isfinite(units["r_squared"].values).tolist() == [True, True, True, False, True, True]
    # c50 is a limit only where it lies outside the contrasts shown, of which it is then the end
    assert limit_sides(units, "c50").tolist() == [0, 0, 0, 0, 1, -1]
    assert units["c50"].values[[0, 4, 5]] == pytest.approx([0.4, 0.96, 0.12], rel=1e-3)
    claim = fit_claim(units)
    assert (claim.estimate, "describes 1 of 6 units" in claim.conclusion) == (1 / 6, True)


def test_the_same_rule_holds_by_law_and_over_time():
    made = recording(list(RESPONSES.values()))
    by_law = contrast_measures(made)
    assert np.isfinite(by_law["exponent"]).tolist() == [True, *[False] * 5]
    found = contrast_in_time(made, "z", xr.DataArray([0.5, 1.0], dims="time"))
    assert np.isfinite(found["exponent_in_time"].values).tolist() == [[True, *[False] * 5]] * 2
    assert found["censored_c50_in_time"].values.tolist() == [[False] * 4 + [True] * 2] * 2


@pytest.mark.parametrize("bad", ["exponent at 10", "R2 of 0"])
def test_a_fit_that_describes_nothing_enters_no_change(bad):
    rng = np.random.default_rng(0)
    good = [naka_rushton(CONTRAST, 1.0, c50, 2.0, 0.0) for c50 in rng.uniform(0.2, 0.6, 9)]
    before, after = fitted([*good[:8], RESPONSES[bad]]), fitted([*good[1:9], GOOD])
    changes = {
        one.measure: one
        for one in changes_beside_twin(Changed(before, {"norm=2": after}), Changed(after, {"norm=2": before}))
    }
    assert {name: (changes[name].change.n, changes[name].untrained.n) for name in PARAMETERS} == dict.fromkeys(
        PARAMETERS, (8, 8)
    )
    assert changes["r_squared"].change.n == 9


def test_an_interval_is_the_same_alone_and_beside_a_twin():
    own, twin = table("own", False), table("twin", False, seed=1)
    changed = {"norm=2": table("own", False, seed=2)}
    alone = analyze_responses(ResponsesResult(own, None, None, changed=changed))
    beside = analyze_responses(ResponsesResult(own, twin, None, changed=changed, changed_untrained={"norm=2": twin}))
    as_twin = analyze_responses(ResponsesResult(twin, None, None))
    compared = {claim.name: claim.interval.to_list() for claim in beside.claims}
    intervals = {claim.name: claim.interval.to_list() for claim in alone.claims}
    assert intervals == compared
    assert sum(one is not None for one in intervals.values()) > 20
    controls = {claim.name: claim.control.interval.to_list() for claim in beside.claims}
    for claim in as_twin.claims:
        if claim.name.endswith(", median") and claim.name.removesuffix(", median") in PLAIN.values():
            assert controls[claim.name] == claim.interval.to_list(), claim.name
    # nor does it depend on what else was measured
    fewer = analyze_responses(ResponsesResult(own.drop_vars("peak_time"), None, None))
    assert {c.name: intervals[c.name] for c in fewer.claims} == {c.name: c.interval.to_list() for c in fewer.claims}


def test_a_comparison_with_the_primate_is_the_same_alone_and_beside_a_twin(made_measures, compare, by_name):
    own, twin = made_measures(), made_measures(seed=1)
    alone, beside = compare(own), compare(own, twin)
    for name, row in by_name(alone).items():
        assert by_name(beside)[name]["interval"] == row["interval"], name
    assert alone.similarities == beside.similarities
