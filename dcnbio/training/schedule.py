"""How many steps a run has, and what learning rate and solver each of them has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcnbio.errors import InputError
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.training.recipe_parts import Optimisation, Phase

__all__ = ["SMALL_DATA_FACTORS", "Plan", "learning_rate", "make_plan", "phase_at", "phase_solver"]

# the paper trains longer on these numbers of images
SMALL_DATA_FACTORS = {520: 10, 1030: 5, 5120: 2}
LEAST_SHARE = 0.1  # of the highest learning rate, where one cycle begins


@dataclass(frozen=True)
class Plan:
    """The length of a run.

    Attributes
    ----------
    batch_size : int
        Images in each step but, where the rest of an epoch is kept, its last.
    steps_per_epoch : int
    total_steps : int
    factor : int
        By which epochs and milestones are stretched.
    rest : int
        Images in the last step of each epoch, where that is smaller and is kept; 0 where there is none.

    Examples
    --------
    >>> plan = Plan(batch_size=128, steps_per_epoch=2, total_steps=200, rest=32)
    >>> plan.images_in(0), plan.images_in(1), plan.passes(3)
    (128, 32, 288)
    """

    batch_size: int
    steps_per_epoch: int
    total_steps: int
    factor: int = 1
    rest: int = 0

    def images_in(self, step: int) -> int:
        """Give the images of a step, counted from 0."""
        return self.rest if self.rest and (step + 1) % self.steps_per_epoch == 0 else self.batch_size

    def passes(self, steps: int) -> int:
        """Give the images that so many steps pass through the network."""
        missing = self.batch_size - self.rest if self.rest else 0
        return steps * self.batch_size - missing * (steps // self.steps_per_epoch)


def make_plan(images: int, chosen: Optimisation) -> Plan:
    """Lay out a run over so many training images.

    Examples
    --------
    >>> make_plan(50_000, Optimisation())
    Plan(batch_size=128, steps_per_epoch=390, total_steps=39000, factor=1, rest=0)
    >>> make_plan(80, Optimisation()).batch_size, make_plan(520, Optimisation()).total_steps
    (80, 4000)
    >>> make_plan(160, Optimisation(keep_partial_batch=True))
    Plan(batch_size=128, steps_per_epoch=2, total_steps=200, factor=1, rest=32)
    """
    if images < 1:
        raise InputError("no training image is left; hold out fewer (held_out).")
    batch = min(chosen.batch_size, images)
    rest = images % batch if chosen.keep_partial_batch else 0
    per_epoch = images // batch + bool(rest)
    factor = SMALL_DATA_FACTORS.get(images, 1) if chosen.small_data_factors else 1
    if chosen.passes is not None:
        each = images if rest else per_epoch * batch
        whole, left = divmod(chosen.passes, each)
        return Plan(batch, per_epoch, max(1, whole * per_epoch + left // batch), rest=rest)
    return Plan(batch, per_epoch, per_epoch * chosen.epochs * factor, factor, rest)


def learning_rate(step: int, plan: Plan, chosen: Optimisation) -> float:
    """Give the learning rate of a step, counted from 0.

    Examples
    --------
    >>> plan = make_plan(1280, Optimisation())
    >>> [round(learning_rate(10 * epoch, plan, Optimisation()), 6) for epoch in (0, 39, 40, 70)]
    [0.1, 0.1, 0.01, 0.001]
    """
    if chosen.schedule == "steps":
        epoch = step // plan.steps_per_epoch
        passed = sum(epoch >= milestone * plan.factor for milestone in chosen.milestones)
        return chosen.learning_rate * chosen.factor**passed
    share = step / plan.total_steps
    if share < chosen.warm_up:
        return chosen.learning_rate * (LEAST_SHARE + (1 - LEAST_SHARE) * share / chosen.warm_up)
    fallen = (share - chosen.warm_up) / max(1 - chosen.warm_up, 1e-12)
    return chosen.learning_rate * (1 + math.cos(math.pi * fallen)) / 2


def phase_at(step: int, plan: Plan, phases: tuple[Phase, ...]) -> int:
    """Give the number of the phase that a step belongs to.

    Examples
    --------
    >>> phases = (Phase(until=0.5, method="midpoint", steps=2, gradient="exact"), Phase())
    >>> plan = Plan(1, 10, 10)
    >>> [phase_at(step, plan, phases) for step in (0, 4, 5, 9)]
    [0, 0, 1, 1]
    """
    return next(i for i, phase in enumerate(phases) if step < phase.until * plan.total_steps or i == len(phases) - 1)


def phase_solver(phase: Phase, integration_time: float, generator: np.random.Generator | None = None) -> SolverSettings:
    """Give the solver of a phase; with a generator, the step length of this batch is drawn.

    Parameters
    ----------
    phase : Phase
    integration_time : float
        The longest of the blocks'.
    generator : numpy Generator, optional

    Examples
    --------
    >>> phase_solver(Phase(method="rk4", steps=4, gradient="exact"), 2.0).step_size
    0.5
    """
    if phase.steps is None:
        return SolverSettings(rtol=phase.rtol, atol=phase.atol, gradient=phase.gradient)
    # T / step in (steps - 1, steps]: as many steps, the last one cut
    count = phase.steps - (phase.jitter * generator.random() if generator is not None else 0.0)
    return SolverSettings(method=phase.method, step_size=integration_time / count, gradient=phase.gradient)
