"""The figures that a checkpoint carries: accuracies with intervals, solver work, passes, minutes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from dcnbio.training.images import LabelledImages
from dcnbio.training.measure import REPORTED, Measured, measure
from dcnbio.training.objective import Reconstruction
from dcnbio.training.recipe import Recipe
from dcnbio.training.reconstruction_error import measure_reconstruction
from dcnbio.training.schedule import Plan
from dcnbio.training.state import Progress
from dcnbio.training.step import Trainer

__all__ = ["final_figures", "partial_figures"]

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
TOLERANCE_IMAGES = 500  # the same at each tolerance, so paired; all held-out ones would take several times as long


def partial_figures(recipe: Recipe, progress: Progress, plan: Plan, look: Measured | None) -> dict[str, Any]:
    """Give the figures of a run that is not finished; held-out accuracy is that of the last look."""
    figures: dict[str, Any] = {
        "finished": False,
        "passes": plan.passes(progress.step),
        "minutes": progress.seconds / 60,
        "seed": recipe.seed,
    }
    return {**figures, **named(recipe, look, "held_out")}


def named(recipe: Recipe, found: Measured | None, name: str) -> dict[str, Any]:
    """Give a measurement's figures; a reconstruction has its error in place of an accuracy."""
    if found is None:
        return {}
    if recipe.task == "classification":
        return found.to_dict(name)
    # without a number for the error where an image could not be solved; the count of those says why
    error = {f"{name}_mse": found.loss} if math.isfinite(found.loss) else {}
    return {**error, f"{name}_n": found.n, f"{name}_nfe": list(found.nfe), f"{name}_failed": found.failed}


def final_figures(
    trainer: Trainer, progress: Progress, held_out: LabelledImages, test: LabelledImages | None
) -> dict[str, Any]:
    """Measure the trained network with dopri5 at 1e-3, on held-out and test images; they are only recorded here.

    With held-out images and ODE blocks, the accuracy of the first 500 at tolerances from 1e-2 to 1e-6 says whether the
    network learned its solver instead of an equation.
    """
    recipe = trainer.recipe
    figures = partial_figures(recipe, progress, trainer.plan, None)
    figures["finished"] = True
    figures["solver"] = "dopri5, rtol = atol = 1e-3, shared steps in batches of 100"
    found = None
    for name, images in (("held_out", held_out), ("test", test)):
        if images is not None and len(images):
            found, more = measure_fully(trainer, images)
            figures.update(named(recipe, found, name) | {f"{name}_{key}": value for key, value in more.items()})
    if found is not None:
        figures["nfe"] = list(found.nfe)
    if len(held_out) and found is not None and max(found.nfe) > 1:
        figures["held_out_by_tolerance"] = by_tolerance(trainer, held_out.at(slice(0, TOLERANCE_IMAGES)))
    return figures


def measure_fully(trainer: Trainer, images: LabelledImages) -> tuple[Measured, dict[str, Any]]:
    """Measure; for a decoder, give its error's interval and the paper's unit as well."""
    if isinstance(trainer.objective, Reconstruction):
        return measure_reconstruction(trainer.objective, images, trainer.processes)
    return measure(trainer.objective, images, trainer.processes), {}


def by_tolerance(trainer: Trainer, images: LabelledImages) -> dict[str, Any]:
    """Measure at several tolerances; mean square error for a reconstruction."""
    answers = {}
    for tolerance in TOLERANCES:
        solver = replace(REPORTED, rtol=tolerance, atol=tolerance)
        found = measure(trainer.objective, images, trainer.processes, solver)
        value = found.accuracy if trainer.recipe.task == "classification" else found.loss
        answers[f"{tolerance:g}"] = {
            "value": value if math.isfinite(value) else None,
            "n": found.n,
            "nfe": list(found.nfe),
        }
    return answers
