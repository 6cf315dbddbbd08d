"""What a report's summary shows of a result: the claims that a reader asks for first, by names that results have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcnbio.commands.report_headlines import HEADLINES, headlines

RESULTS = Path(__file__).parents[2] / "analyses" / "results"
KEPT = {
    "scales": "scales.json",
    "completion": "pattern_completion_100.json",
    "contrast": "contrast_default.json",
    "responses": "responses_blocks_small.json",
}


def claims(kind):
    return json.loads((RESULTS / KEPT[kind]).read_text(encoding="utf-8"))["claims"]


@pytest.mark.parametrize("kind", KEPT)
def test_every_headline_is_a_claim_that_results_make(kind):
    found = [claim["name"] for claim in headlines(kind, claims(kind))]
    for part, name in zip(HEADLINES[kind], found, strict=False):
        assert part in name


def test_every_headline_of_the_comparison_with_the_primate_is_one_that_it_makes():
    names = [row["name"] for row in json.loads((RESULTS / "primate_dcn-ode_default.json").read_text())["comparisons"]]
    assert all(any(part in name for name in names) for part in HEADLINES["primate"])


def test_claims_without_a_number_are_passed_over_and_others_fill_the_place():
    made = [{"name": f"a: measure {i}", "estimate": None if i == 1 else 0.5} for i in range(7)]
    made.append({"name": "a block 1: completion index", "estimate": None})
    made.append({"name": "a block 1: change of retrieval from 0 to T", "estimate": 0.1})
    found = [claim["name"] for claim in headlines("completion", made)]
    assert found == ["a block 1: change of retrieval from 0 to T", "a: measure 0", "a: measure 2", "a: measure 3"]
