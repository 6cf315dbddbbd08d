"""A recipe in a few words: the settings that are not the paper's; and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from dcnbio.errors import InputError
from dcnbio.training.recipe import Recipe, recipe_from_dict
from dcnbio.training.recipe_parts import Phase

__all__ = ["differences", "recorded_recipe"]


def other(values: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Give the values that are not the usual ones, section by section."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and isinstance(usual.get(name), dict) and usual[name]:
            value = other(value, usual[name])
        if value != usual.get(name) and value != {}:
            found[name] = value
    return found


def differences(recipe: Recipe) -> dict[str, Any]:
    """Give the settings of a recipe that are not the paper's, from which `recipe_from_dict` makes it again.

    Parameters
    ----------
    recipe : Recipe

    Returns
    -------
    dict
        Plain values; empty for the paper's recipe.

    Examples
    --------
    >>> from dcnbio.training.recipe_file import with_settings
    >>> differences(with_settings(Recipe(), ["learning_rate=0.05", 'phases=[{gradient="exact"}]']))
    {'optimisation': {'learning_rate': 0.05}, 'phases': [{'gradient': 'exact'}]}
    """
    found = other(recipe.to_dict(), Recipe().to_dict())
    if "phases" in found:
        found["phases"] = [other(phase, asdict(Phase())) for phase in found["phases"]]
    return found


def recorded_recipe(record: Mapping[str, Any]) -> Recipe | None:
    """Read the recipe in a checkpoint's header, beside which other facts stand; None where the header tells none.

    Examples
    --------
    >>> recorded_recipe({**Recipe(seed=3).to_dict(), "command": "dcnbio train --seed 3"}).seed
    3
    >>> recorded_recipe({"optimizer": "SGD"}) is None
    True
    """
    if "optimisation" not in record:
        return None
    try:
        return recipe_from_dict({item.name: record[item.name] for item in fields(Recipe) if item.name in record})
    except InputError:
        return None
