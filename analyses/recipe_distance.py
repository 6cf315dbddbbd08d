"""How far the recipe of a training was from the paper's, in words: part by part, every setting that differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dcnbio.model.checkpoint import Header
from dcnbio.model.run_parts import earlier_parts, spent
from dcnbio.training import Recipe, read_recipe
from dcnbio.training.recipe import recipe_from_dict
from dcnbio.training.recipe_differences import recorded_recipe

__all__ = ["THE_PAPERS", "part_distances", "passes_distance"]

PAPERS = Path(__file__).parent / "recipes" / "paper.toml"
PAPERS_IMAGES, PAPERS_EPOCHS = 50_000, 100
THE_PAPERS, NOT_RECORDED = "the paper's", "not recorded"
RELEVANT = ("data", "optimisation", "phases", "guards", "network", "initial_sigma", "dtype")


def flat(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List settings by their dotted names."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, list(values) if isinstance(values, tuple) else values


def settings(recipe: Recipe) -> dict[str, Any]:
    """Give the settings that decide how a network comes out, by their dotted names."""
    found = dict(flat({key: value for key, value in recipe.to_dict().items() if key in RELEVANT}))
    return {**found, "phases": ", ".join(f"{phase.label} until {phase.until:g}" for phase in recipe.phases)}


def parts_of(header: Header) -> list[Recipe | None]:
    """List the recipes of all parts of a training, first part first; None where it was not recorded."""
    before = [part.get("recipe") for part in earlier_parts(header.recipe)]
    found = [None if recipe is None else recipe_from_dict(recipe) for recipe in before]
    return [*found, recorded_recipe(header.recipe)]


def part_distances(header: Header) -> list[str]:
    """Say of each part in which settings it was not the paper's; of a later one, what it has other than a former."""
    if recorded_recipe(header.recipe) is None:
        return [unreadable_distance(header.recipe)]
    said, former, known = [], settings(read_recipe(PAPERS)), ""
    for number, recipe in enumerate(parts_of(header), 1):
        if recipe is None:
            said.append(NOT_RECORDED)
            continue
        ours = settings(recipe)
        different = "; ".join(f"{key} {value}" for key, value in ours.items() if former.get(key) != value)
        said.append(f"{known}{' but for ' if known and different else ''}{different}")
        former, known = ours, f"as part {number}"
    return said


def unreadable_distance(recipe: dict[str, Any]) -> str:
    """Say what is recorded of a training by other code than ours."""
    said = [str(part["solver"]) for part in recipe.get("parts", []) if "solver" in part]
    said += [f"{key} {recipe[key]}" for key in ("data", "gradient", "gradient_norm_clip") if key in recipe]
    return "; ".join(said) or NOT_RECORDED


def passes_distance(header: Header) -> str:
    """Say how many of the paper's image passes a training had, if it had not as many."""
    passes = int(spent(header.recipe, header.metrics, "passes"))
    passes = passes or sum(part.get("image_passes", 0) for part in header.recipe.get("parts", []))
    whole = PAPERS_IMAGES * PAPERS_EPOCHS
    if not passes or passes == whole:
        return ""
    return f"{passes:,} image passes of {whole:,} ({100 * passes / whole:.1f} %)"
