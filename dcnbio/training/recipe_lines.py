"""How a network was trained, in the lines of its card: the recipe, and the runs that it went on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from dcnbio.model.rows import row_spec
from dcnbio.model.run_parts import earlier_parts, spent
from dcnbio.training.recipe import recipe_from_dict

__all__ = ["recipe_lines"]

START = {
    "paper": "log2 sigma ~ N(0, 2/3)",
    "constant": "1 pixel everywhere",
    "log2-uniform": "log2 sigma uniform, standard deviation 2/3",
}


def precision_text(phases: Sequence[Mapping[str, Any]]) -> str:
    """Say in which parts of a run dense kernels were not convolved in float32; nothing where there were none.

    Examples
    --------
    >>> fast = [{"until": 0.3, "convolutions": "bfloat16"}, {"until": 0.9, "convolutions": "bfloat16"}]
    >>> precision_text([*fast, {"until": 1.0}])
    ', dense kernels in bfloat16 from 0 to 90 %'
    """
    said, begin = "", 0.0
    for kind, alike in groupby(phases, lambda phase: phase.get("convolutions", "float32")):
        *_, last = alike
        if kind != "float32":
            said += f", dense kernels in {kind} from {100 * begin:g} to {100 * last['until']:g} %"
        begin = last["until"]
    return said


def phases_text(phases: Sequence[Mapping[str, Any]]) -> str:
    """Write the solvers of a run in the order they were used."""
    said = []
    for phase in phases:
        steps = f" x {phase['steps']} per block" if phase["steps"] else f" at {phase['rtol']:g}"
        said.append(f"{phase['method']}{steps} up to {100 * phase['until']:g} % ({phase['gradient']} gradients)")
    return ", ".join(said)


def recipe_text(recipe: Mapping[str, Any]) -> str:
    """Write optimisation and augmentation."""
    optimisation, data = recipe["optimisation"], recipe["data"]
    rate = f"{optimisation['learning_rate']:g}, {optimisation['schedule']}"
    decay = f", weight decay {optimisation['weight_decay']:g}" if optimisation["weight_decay"] else ""
    unmoved = f" ({100 * data['still']:g} % of images unshifted)" if data.get("still") else ""
    border = " with mirrored borders" if data.get("border", "black") == "mirror" else ""
    shifts = f"{data['translate']}-pixel shifts{border}{unmoved}{' and flips' if data['flip'] else ''}"
    kept = " with the rest of an epoch kept" if optimisation.get("keep_partial_batch") else ""
    return (
        f"{recipe['name']}; SGD, momentum {optimisation['momentum']:g}{decay}, learning rate {rate}, "
        f"batch {optimisation['batch_size']}{kept}, {shifts}"
        f"{precision_text(recipe['phases'])}"
    )


def part_text(part: Mapping[str, Any]) -> str:
    """Write what is recorded of a run that another went on from.

    Examples
    --------
    >>> part_text({"file": "first", "weights": "ab12", "passes": 1000, "minutes": 3.2, "held_out_accuracy": 0.5})
    '1,000 passes, 3 minutes, held out 50.0 %; recipe not recorded; command not recorded; gave first, weights ab12'
    """
    figures = [f"{part['passes']:,} passes"] if "passes" in part else []
    figures += [f"{part['minutes']:.0f} minutes"] if "minutes" in part else []
    figures += [f"held out {100 * part['held_out_accuracy']:.1f} %"] if "held_out_accuracy" in part else []
    figures += [f"seed {part['seed']}"] if "seed" in part else []
    said = [", ".join(figures)] if figures else []
    if "recipe" in part:
        recipe = recipe_from_dict(part["recipe"])
        said.append(f"recipe {recipe_text(recipe.to_dict())}")
        if row_spec(recipe.model).depth == "ode":
            said.append(f"solver {phases_text(recipe.to_dict()['phases'])}")
    else:
        said.append("recipe not recorded")
    said += [f"command {part.get('command') or 'not recorded'}", f"gave {part['file']}, weights {part['weights']}"]
    return "; ".join(said)


def part_lines(recipe: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write the runs that this one went on from, the first one first; nothing where its values were drawn."""
    parts = earlier_parts(recipe)
    if not parts:
        return []
    count = len(parts) + 1
    whole = f"{spent(recipe, metrics, 'passes'):,.0f} passes and {spent(recipe, metrics, 'minutes'):.0f} minutes in all"
    about = f"{count}, each from the weights that the one before gave; {whole}; what follows is of part {count}"
    return [*((f"part {number}", part_text(part)) for number, part in enumerate(parts, 1)), ("parts", about)]


def recipe_lines(recipe: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write what was done."""
    held_out = f"{recipe['data']['held_out']:,} training images, the same for every network; they make all choices"
    lines = [
        *part_lines(recipe, metrics),
        ("data", str(recipe.get("images_source", "not recorded"))),
        ("held out", held_out),
        ("recipe", recipe_text(recipe)),
        ("solver while training", phases_text(recipe["phases"])),
        ("start of the scales", START.get(recipe["initial_sigma"], recipe["initial_sigma"])),
        ("seed", str(recipe["seed"])),
        ("image passes", f"{metrics['passes']:,}"),
        ("time", f"{metrics['minutes']:.0f} minutes on {metrics.get('machine', 'a machine not recorded')}"),
    ]
    if recipe.get("command"):
        lines.append(("command", str(recipe["command"])))
    return lines
