"""How the recipe of Table 2 can be read, and where each reading's recipe and runs are kept."""

from __future__ import annotations

from pathlib import Path

RECIPES = Path(__file__).parent / "recipes"
# besides the paper's text; recipes/<name>_small_data.toml, results/small_data_<name>.csv
OTHER_READINGS = ("public-code", "ten-times")


def recipe_of_reading(reading: str) -> Path:
    """Give the recipe of a reading."""
    return RECIPES / f"{file_name(reading)}_small_data.toml"


def runs_of_reading(reading: str, papers: Path) -> Path:
    """Give the table of a reading's runs, which lies beside that of the paper's text."""
    return papers if reading == "paper" else papers.with_stem(f"{papers.stem}_{file_name(reading)}")


def file_name(reading: str) -> str:
    """Write a reading as in the names of files."""
    return reading.replace("-", "_")
