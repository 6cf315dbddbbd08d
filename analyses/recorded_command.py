"""What the command of a training run asked for, read by its own parser, with the recipes that lie here."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import train_on_gpu
from cyclopts import CycloptsError

from dcnbio.commands.app import app
from dcnbio.training import Recipe, read_recipe

__all__ = ["gives", "goes_on", "passes_of_file", "recipe_of"]

ROOT = Path(__file__).parents[1]


def arguments_of(command: str) -> dict[str, Any]:
    """Read a command's options."""
    words = shlex.split(command)
    if words[:2] != ["dcnbio", "train"]:
        raise ValueError(f"the command {command!r} is not one of dcnbio train")
    found: dict[str, Any] = app.parse_args(words[1:])[1].arguments
    if "what" in found and found["what"].recipe is not None:
        found["what"] = replace(found["what"], recipe=ROOT / found["what"].recipe)
    return found


def recipe_of(command: str) -> Recipe:
    """Give the recipe that a command asks for."""
    what = arguments_of(command).get("what")
    return (what and what.chosen()) or Recipe()


def gives(command: str, recipe: Recipe) -> bool:
    """Say whether a command gives a recipe; where it gave minutes, they became the recipe's passes."""
    words = shlex.split(command)
    if words[:2] == list(train_on_gpu.PROGRAM):
        asked, minutes = train_on_gpu.recipe_for(recipe.model, train_on_gpu.options(words[2:])), True
    else:
        what = arguments_of(command).get("what")
        asked, minutes = recipe_of(command), what is not None and what.minutes is not None
    if minutes:
        asked = replace(asked, optimisation=replace(asked.optimisation, passes=recipe.optimisation.passes))
    return asked == recipe


def goes_on(command: str) -> bool:
    """Say whether a command goes on with a run, so that it says nothing of the recipe."""
    return any(part.partition("=")[0] == "--resume" for part in shlex.split(command))


def passes_of_file(command: str) -> int | None:
    """Give the passes that the recipe's file names, whatever the command has in their place.

    None where no such file is named or lies here, or the text is no command of dcnbio train: a run that was begun from
    Python may have any.
    """
    try:
        what = arguments_of(command).get("what")
    except (ValueError, CycloptsError):
        return None
    if what is None or what.recipe is None or not what.recipe.exists():
        return None
    return read_recipe(what.recipe).optimisation.passes
