"""The table of claims: the committed one is what the script makes, from results by name."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from dcnbio.model.loading import load
from dcnbio.model.weights import weights_id

ANALYSES = Path(__file__).parents[2] / "analyses"
ROW = {
    "question": "Does it | hold?",
    "paper": "",
    "file": "made.json",
    "claim": "it holds",
    "scale": "100",
    "digits": "1",
    "signed": "+",
    "unit": " points",
}


@pytest.fixture
def script(tmp_path):
    loaded = runpy.run_path(str(ANALYSES / "findings.py"))
    loaded["line"].__globals__["RESULTS"] = tmp_path  # a result of known values in place of those that are kept
    return loaded


def test_the_committed_table_is_what_the_script_makes():
    made = runpy.run_path(str(ANALYSES / "findings.py"))
    committed = (ANALYSES / "README.md").read_text(encoding="utf-8")
    again = made["put_between"](committed, made["BEGIN"], made["END"], made["table"]())
    assert again == committed, "run python analyses/findings.py --readme"


def keep(folder, **values):
    made = {"network": "dcn-ode-untrained", "weights": weights_id(load("dcn-ode-untrained").state_dict())}
    (folder / "made.json").write_text(json.dumps(made | values))


def test_a_claim_is_laid_out_with_its_interval_its_n_and_its_control(script, tmp_path):
    control = {"name": "chance", "estimate": 0.0, "interval": None}
    claim = {"name": "it holds", "n": 7, "unit": "images", "estimate": 0.25, "interval": [0.1, 0.4], "control": control}
    keep(tmp_path, claims=[claim])
    cells = ["Does it / hold?", "-", "+25.0 points", "+10.0 points to +40.0 points", "7 images", "chance: +0.0 points"]
    assert script["line"](ROW) == f"| {' | '.join(cells)} | [file](results/made.json) |"


def test_a_comparison_with_published_data_has_its_verdict_where_a_control_stands(script, tmp_path):
    row = {"name": "it holds", "n_model": 3, "effect": 0.5, "interval": None, "verdict": "cannot tell"}
    keep(tmp_path, comparisons=[row])
    expected = "| - | +50.0 points | - | 3 units | cannot tell | [file](results/made.json) |"
    assert script["line"](ROW).endswith(expected)


def test_a_claim_that_is_no_longer_made_is_refused_by_name(script, tmp_path):
    keep(tmp_path, claims=[{"name": "another"}])
    with pytest.raises(SystemExit, match=r"made\.json has no claim 'it holds'; its claims: another"):
        script["line"](ROW)


def test_a_result_of_weights_that_no_longer_ship_is_marked(script, tmp_path):
    old = {"name": "dcn-ode", "weights": f"sha256:{'0' * 64}"}
    new = {"name": "dcn-ode-untrained", "weights": weights_id(load("dcn-ode-untrained").state_dict())}
    claims = [
        {"name": name, "n": 7, "unit": "images", "estimate": 0.5, "interval": None, "control": None}
        for name in ("dcn-ode: it holds", "it holds", "untrained holds")
    ]
    keep(tmp_path, claims=claims, networks=[old, new])
    end = "[file](results/made.json){} |"
    mark = ", of dcn-ode 00000000: not the weights that ship"
    for claim in claims[:2]:
        assert script["line"](ROW | {"claim": claim["name"]}).endswith(end.format(mark))
    keep(tmp_path, claims=claims, recordings=[{"network": "dcn-ode 00000000"}])
    script["read"].cache_clear(), script["claims"].cache_clear()
    assert script["line"](ROW).endswith(end.format(mark))
    keep(tmp_path, claims=claims, networks=[new])
    script["read"].cache_clear(), script["claims"].cache_clear()
    assert script["line"](ROW).endswith(end.format(""))


def test_a_comparison_is_marked_where_the_network_beside_it_no_longer_ships(script, tmp_path):
    ships = weights_id(load("dcn-ode-untrained").state_dict())
    claims = [{"name": "it holds", "n": 7, "unit": "units", "estimate": 0.5, "interval": None, "control": None}]
    about = {"network": "dcn-ode-untrained", "weights": ships}
    keep(tmp_path, claims=claims, **about, beside_weights={"ode-net": f"sha256:{'0' * 64}"})
    assert script["line"](ROW).endswith(", of ode-net 00000000: not the weights that ship |")
    # the untrained one was built for the comparison and ships under no name
    beside = {"untrained": "sha256:1", "ode-net": weights_id(load("ode-net").state_dict())}
    keep(tmp_path, claims=claims, **about, beside_weights=beside)
    script["read"].cache_clear(), script["claims"].cache_clear()
    assert script["line"](ROW).endswith("[file](results/made.json) |")
