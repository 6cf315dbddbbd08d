"""The tables beside the paper's: the committed ones are those the script makes; a run is judged as stated."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ANALYSES = Path(__file__).parents[2] / "analyses"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ANALYSES / "paper_tables.py"))


def test_the_committed_tables_are_what_the_script_makes(script):
    runs = ANALYSES / "results" / "small_data.csv"
    tables = script["page"](script["shipped_networks"](), [], script["read_rows"](runs) if runs.exists() else [])
    committed = (ANALYSES / "README.md").read_text(encoding="utf-8")
    assert script["into_readme"](committed, tables) == committed, "run python analyses/paper_tables.py --readme"


def test_the_prediction_interval_of_a_fourth_run_is_that_of_students_t(script):
    # t(2 degrees of freedom, 0.975) = 4.3027 from printed tables, times sqrt(4 / 3)
    assert script["prediction_factor"](3) == pytest.approx(4.3027 * (4 / 3) ** 0.5, abs=1e-3)


@pytest.mark.parametrize(("value", "said"), [(89.5, "within"), (88.4, "below"), (90.6, "above")])
def test_a_single_run_is_judged_by_it(script, value, said):
    assert script["judged"](value, {"mean": "89.5", "sd": "0.2", "n_runs": "3"}) == f"{said} 88.5 to 90.5"


def test_a_readme_without_marks_is_refused(script):
    with pytest.raises(SystemExit, match=r"README\.md lacks the mark"):
        script["into_readme"]("# Analyses\n", "")
