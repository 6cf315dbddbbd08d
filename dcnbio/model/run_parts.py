"""The parts of a network's training: runs that went on from one another, each with what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["cut_short", "earlier_parts", "spent"]


def earlier_parts(recipe: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List what a run went on from, first part first; empty where all its values were drawn.

    Parameters
    ----------
    recipe : mapping
        Of a checkpoint's header.

    Examples
    --------
    >>> [part["file"] for part in earlier_parts({"begun_from": {"file": "b", "begun_from": {"file": "a"}}})]
    ['a', 'b']
    """
    found, earlier = [], recipe.get("begun_from")
    while earlier:
        found.append(earlier)
        earlier = earlier.get("begun_from")
    return found[::-1]


def spent(recipe: Mapping[str, Any], metrics: Mapping[str, Any], what: str) -> float:
    """Add up passes or minutes of a run and of those that it went on from, as far as they are recorded.

    Examples
    --------
    >>> spent({"begun_from": {"file": "a", "passes": 1000}}, {"passes": 24}, "passes")
    1024
    """
    total: float = (metrics.get(what) or 0) + sum(part.get(what) or 0 for part in earlier_parts(recipe))
    return total


def cut_short(recipe: Mapping[str, Any], metrics: Mapping[str, Any]) -> str:
    """Say how far a training stayed behind the passes that its recipe's file names; nothing where it did not.

    Parameters
    ----------
    recipe : mapping
        Of a checkpoint's header; its `passes_of_file` are those of the file that the command names.
    metrics : mapping

    Examples
    --------
    >>> cut_short({"passes_of_file": 600_000}, {"passes": 19_968})
    "19,968 of its recipe's 600,000 image passes"
    >>> cut_short({"passes_of_file": 20_000, "optimisation": {"batch_size": 128}}, {"passes": 19_968})
    ''
    """
    named, passes = recipe.get("passes_of_file"), int(spent(recipe, metrics, "passes"))
    # what is less than a batch is never trained on
    batch = recipe.get("optimisation", {}).get("batch_size", 1)
    if not named or passes + batch > named:
        return ""
    return f"{passes:,} of its recipe's {named:,} image passes"
