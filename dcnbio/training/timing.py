"""Turns minutes into image passes, once, by timing a few steps of each phase and a look at images."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dcnbio.errors import InputError
from dcnbio.training.final_figures import TOLERANCES
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.measure import BATCH, measure
from dcnbio.training.processes import Processes
from dcnbio.training.recipe import Recipe
from dcnbio.training.schedule import make_plan
from dcnbio.training.setup import make_objective, make_optimiser
from dcnbio.training.step import Trainer
from dcnbio.training.subsets import split_images

__all__ = ["Speed", "passes_for", "recipe_for_minutes", "time_phases"]

TIMED_STEPS = 2
SAFETY = 0.95
# looking at tight tolerances takes more evaluations: how many times the work of 1e-3 all tolerances together are
TOLERANCE_WORK = 2.0 * len(TOLERANCES)


@dataclass(frozen=True)
class Speed:
    """What a run costs on this machine.

    Attributes
    ----------
    phases : tuple of float
        Seconds per training image with each phase's solver.
    look : float
        Seconds per image with dopri5 at 1e-3, without gradients.
    """

    phases: tuple[float, ...]
    look: float


def seconds_of(action: Callable[[], object]) -> float:
    """Time an action."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def time_phases(recipe: Recipe, images: LabelledImages, device: str = "cpu") -> Speed:
    """Time a few steps of each phase on a network that is thrown away.

    Untrained networks need other numbers of dopri5 steps than trained ones, so expect to be off by a fifth.
    """
    processes = Processes(device=device)
    seconds = []
    for phase in recipe.phases:
        objective = make_objective(recipe, int(images.labels.max()) + 1, device)
        optimiser = make_optimiser(objective.module, recipe.optimisation)
        plan = make_plan(len(images), recipe.optimisation)
        trainer = Trainer(recipe, plan, images, objective, optimiser, processes)
        trainer.step(0, phase)
        taken = seconds_of(lambda trainer=trainer, phase=phase: [trainer.step(i, phase) for i in range(TIMED_STEPS)])  # type: ignore[misc]
        seconds.append(taken / plan.passes(TIMED_STEPS))
    some = images.at(slice(0, BATCH))
    look = seconds_of(lambda: measure(trainer.objective, some, processes)) / len(some)
    return Speed(tuple(seconds), look)


def passes_for(recipe: Recipe, minutes: float, speed: Speed, sizes: tuple[int, int, int]) -> int:
    """Give the passes that fit, with looks after each epoch and the figures at the end.

    Parameters
    ----------
    recipe : Recipe
    minutes : float
    speed : Speed
    sizes : tuple of int
        Training, held-out and test images.

    Raises
    ------
    InputError
        If the looks alone take longer.

    Examples
    --------
    >>> passes_for(Recipe(), 10, Speed((0.01,), 0.0), (1000, 0, 0))
    57000
    """
    training, held_out, test = sizes
    shares = [
        b - a for a, b in zip((0.0, *(p.until for p in recipe.phases)), (p.until for p in recipe.phases), strict=False)
    ]
    each = sum(share * seconds for share, seconds in zip(shares, speed.phases, strict=True))
    look = min(held_out, recipe.data.look) * speed.look * 1.3 / training
    final = speed.look * (test + held_out * (1 + TOLERANCE_WORK))
    left = 60 * minutes * SAFETY - final
    if left <= 0:
        raise InputError(
            f"minutes is {minutes:g}, but looking at {held_out} held-out and {test} test images at the end takes "
            f"about {final / 60:.1f}; give more minutes or hold out fewer."
        )
    return max(1, int(left / (each + look)))


def recipe_for_minutes(recipe: Recipe, images: TrainingImages, minutes: float, device: str) -> tuple[Recipe, Speed]:
    """Give the recipe with the passes that fit into the minutes, and the speed that was found."""
    if not (math.isfinite(minutes) and minutes > 0):
        raise InputError(f"minutes is {minutes:g}; give a number above 0 (--minutes), or passes (--passes).")
    kept, held = split_images(images.train.labels, recipe.data, recipe.seed)
    speed = time_phases(recipe, images.train.at(kept), device)
    sizes = (len(kept), len(held), 0 if images.test is None else len(images.test))
    passes = passes_for(recipe, minutes, speed, sizes)
    return replace(recipe, optimisation=replace(recipe.optimisation, passes=passes)), speed
