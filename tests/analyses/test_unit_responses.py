"""All results of units come from one command: what is there is kept, unless it is of other weights."""

from __future__ import annotations

import json
import sys

import pytest
import unit_responses
from unit_responses import Result

from dcnbio.model.loading import load
from dcnbio.model.network import build
from dcnbio.model.weights import weights_id


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run main on results that count how often they are made."""
    made: list[str] = []

    def main(*arguments, weights="sha256:1"):
        def work(name):
            made.append(name)
            return {"claims": [name], "median": float("nan")}, f"page of {name}"

        every = [Result(name, {"weights": weights}, lambda name=name: work(name)) for name in ("first", "second")]
        monkeypatch.setattr(unit_responses, "wanted", lambda checkpoint: every)
        monkeypatch.setattr(sys, "argv", ["unit_responses.py", "--out", str(tmp_path / "out"), *arguments])
        made.clear()
        unit_responses.main()
        return list(made)

    return main


def test_a_result_is_made_once_for_the_same_weights(run, tmp_path):
    assert run("--only", "second") == ["second"]
    assert run() == ["first"]
    assert run() == []
    assert run(weights="sha256:2") == ["first", "second"]
    assert run("--overwrite", weights="sha256:2") == ["first", "second"]
    found = json.loads((tmp_path / "out" / "first.json").read_text())
    assert found == {"claims": ["first"], "median": None, "weights": "sha256:2"}
    assert (tmp_path / "out" / "first.txt").read_text() == "page of first\n"


def test_an_unknown_result_is_refused(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("--only", "third")
    assert "--only is third; results are first, second" in capsys.readouterr().err


def test_every_result_says_of_which_weights_it_is():
    every = unit_responses.wanted("dcn-ode")
    assert [one.name for one in every] == [
        "responses_default",
        "responses_blocks_small",
        "responses_interventions",
        "primate_dcn-ode_default",
    ]
    assert {one.made["weights"][:7] for one in every} == {"sha256:"}
    assert "intervention=('sigma=1.5', 'time=0', 'norm=10', 'orders=2')" in every[2].made["asked"]


def test_a_comparison_is_made_again_where_the_network_beside_it_is_another(monkeypatch):
    before = unit_responses.wanted("dcn-ode")[-1].made
    assert before["beside_weights"]["ode-net"] == weights_id(load("ode-net").state_dict())
    monkeypatch.setattr(unit_responses.primate, "ode_net_control", lambda row: "ode-net-black-borders")
    after = unit_responses.wanted("dcn-ode")[-1].made
    assert after["weights"] == before["weights"]
    assert after["beside_weights"] != before["beside_weights"]
    untrained = build(load("dcn-ode").spec, seed=0)
    assert before["beside_weights"]["untrained"] == weights_id(untrained.state_dict())


def test_what_is_kept_is_of_the_networks_that_ship():
    for one in unit_responses.wanted("dcn-ode"):
        assert unit_responses.is_done(unit_responses.RESULTS / f"{one.name}.json", one.made), one.name
