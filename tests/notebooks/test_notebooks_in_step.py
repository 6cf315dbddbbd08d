"""Each notebook lies beside its text, cell by cell the same, and with the outputs of a run that had no error."""

from __future__ import annotations

from pathlib import Path

import jupytext
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path.with_suffix(".ipynb"), as_version=4)


def test_there_are_notebooks() -> None:
    executed_only = {path.stem for path in NOTEBOOKS[0].parent.glob("*.ipynb")} - {path.stem for path in NOTEBOOKS}
    assert NOTEBOOKS
    assert not executed_only


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_sources_are_those_of_the_text(path: Path) -> None:
    text = [(cell.cell_type, cell.source) for cell in jupytext.read(path).cells]
    assert [(cell.cell_type, cell.source) for cell in executed(path).cells] == text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_was_run_from_top_to_bottom_without_an_error(path: Path) -> None:
    cells = code_cells(executed(path))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert "error" not in kinds
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_says_question_reading_and_caveat(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert all(f"**{word}" in text for word in ("Question.", "Reading.", "Caveat"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_hold_no_path_of_the_machine_that_made_them(path: Path) -> None:
    raw = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert not [place for place in ("/work/", "/home/", "/root/", "/tmp/") if place in raw]
