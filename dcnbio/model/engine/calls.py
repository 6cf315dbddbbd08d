"""Evaluations and Runge-Kutta steps of a compiled field, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dcnbio.model.engine.batch import Batch, check_gradients, per_image
from dcnbio.model.engine.compiled_field import CompiledField

__all__ = [
    "AttemptGradients",
    "EngineAttempt",
    "Tolerance",
    "attempt",
    "attempt_vjp",
    "evaluate",
    "evaluate_vjp",
]

STAGES = 7


class Tolerance(NamedTuple):
    """Relative and absolute tolerance of a step."""

    rtol: float
    atol: float


class EngineAttempt(NamedTuple):
    """One attempted step of every image.

    Attributes
    ----------
    y1, f1 : Tensor, [n, C, Y, X], channels last
        State and slope at the step's end.
    y_mid : Tensor, [n, C, Y, X], channels last
        State half-way.
    squares : Tensor, [n], float64
        Sum over the image's elements of (error / (atol + rtol max(|y0|, |y1|)))^2; not finite where the state is not.
    """

    y1: Tensor
    f1: Tensor
    y_mid: Tensor
    squares: Tensor


@dataclass(frozen=True)
class AttemptGradients:
    """The loss's gradients at the far side of a step, each [n, C, Y, X] or None for zero.

    Attributes
    ----------
    y1, f1, y_mid : Tensor or None
        With respect to what `attempt` returned.
    f0 : Tensor or None
        With respect to f0 where it was used outside the step, as dense output does.
    """

    y1: Tensor | None = None
    f1: Tensor | None = None
    y_mid: Tensor | None = None
    f0: Tensor | None = None


def evaluate(field: CompiledField, time: Tensor | float, state: Tensor) -> Tensor:
    """Evaluate dh/dt (equation 2).

    Parameters
    ----------
    field : CompiledField
        Time-dependent kernels with one stage.
    time : Tensor or float
        Scalar or [n].
    state : Tensor
        [n, C, Y, X]; channels-last memory is used as it is, other memory is copied.

    Returns
    -------
    Tensor
        [n, C, Y, X], channels last. An image's numbers do not depend on its batch or on the number of threads.
    """
    images = state.shape[0]
    field.check_stages(images, 1)
    batch = Batch(field, images)
    batch.put("time", per_image("time", time, images))
    batch.put_maps("state", state)
    slope = batch.new_maps("next_slope")
    batch.run("evaluate")
    return slope


def evaluate_vjp(
    field: CompiledField,
    time: Tensor | float,
    state: Tensor,
    slope_gradient: Tensor,
    gradients: Sequence[Tensor | None],
) -> tuple[Tensor, Tensor]:
    """Evaluate dh/dt, and carry a gradient with respect to it back to the state and the parameters.

    Parameters
    ----------
    field, time, state
        As `evaluate` had them.
    slope_gradient : Tensor
        [n, C, Y, X].
    gradients : sequence of Tensor or None
        One per tensor of ``field.parameters.tensors()``; ADDED to. None for a kernel's taps saves their work.

    Returns
    -------
    slope : Tensor
        [n, C, Y, X], dh/dt, which the derivative has to evaluate anyway.
    state_gradient : Tensor
        [n, C, Y, X], the gradient with respect to `state`.
    """
    images = state.shape[0]
    field.check_stages(images, 1)
    check_gradients(field, gradients)
    batch = Batch(field, images)
    batch.put("time", per_image("time", time, images))
    batch.put_maps("state", state)
    batch.put_maps("next_slope_gradient", slope_gradient)
    slope, result = batch.new_maps("next_slope"), batch.new_maps("state_gradient")
    batch.run("evaluate_gradient", gradients)
    return slope, result


def attempt(
    field: CompiledField, state: tuple[Tensor, Tensor], time: Tensor | float, step: Tensor | float, tolerance: Tolerance
) -> EngineAttempt:
    """Attempt one Dormand-Prince 5(4) step of every image.

    Parameters
    ----------
    field : CompiledField
        Time-dependent kernels with seven stages, at ``time + step * (0, 1/5, 3/10, 4/5, 8/9, 1, 1)``.
    state : tuple of Tensor
        y0 and f0 = field(time, y0), [n, C, Y, X] each.
    time, step : Tensor or float
        Scalar or [n].
    tolerance : Tolerance
        rtol and atol.

    Returns
    -------
    EngineAttempt
    """
    images = state[0].shape[0]
    field.check_stages(images, STAGES)
    batch = Batch(field, images)
    batch.put("time", per_image("time", time, images))
    batch.put("step", per_image("step", step, images))
    batch.structure.rtol, batch.structure.atol = tolerance
    batch.put_maps("state", state[0])
    batch.put_maps("slope", state[1])
    y1, f1, y_mid = (batch.new_maps(name) for name in ("next", "next_slope", "middle"))
    squares = torch.empty(images, dtype=torch.float64)
    batch.put("error", squares)
    batch.run("attempt")
    return EngineAttempt(y1, f1, y_mid, squares)


def attempt_vjp(
    field: CompiledField,
    state: tuple[Tensor, Tensor | None],
    time: Tensor | float,
    step: Tensor | float,
    outside: AttemptGradients,
    gradients: Sequence[Tensor | None],
) -> tuple[Tensor, Tensor | None]:
    """Carry gradients from the far side of a step to its start, computing the stages once more.

    The derivative of the numbers `attempt` computed, with time and step held constant.

    Parameters
    ----------
    field, time, step
        As `attempt` had them.
    state : tuple of (Tensor, Tensor or None)
        y0 and f0. With f0 = None the step evaluates f0 itself and its gradient goes into that of y0: steps then chain
        through y1 alone.
    outside : AttemptGradients
        What is known of the loss. Without y_mid and f1 the seventh stage costs nothing.
    gradients : sequence of Tensor or None
        One per tensor of ``field.parameters.tensors()``; ADDED to.

    Returns
    -------
    y0_gradient : Tensor
        [n, C, Y, X], through the step alone: a gradient that reaches y0 by another way is for the caller to add.
    f0_gradient : Tensor or None
        [n, C, Y, X] where f0 was given.
    """
    images = state[0].shape[0]
    field.check_stages(images, STAGES)
    check_gradients(field, gradients)
    batch = Batch(field, images)
    batch.put("time", per_image("time", time, images))
    batch.put("step", per_image("step", step, images))
    batch.put_maps("state", state[0])
    batch.put_maps("slope", state[1])
    batch.put_maps("next_gradient", outside.y1)
    batch.put_maps("next_slope_gradient", outside.f1)
    batch.put_maps("middle_gradient", outside.y_mid)
    batch.put_maps("first_slope_gradient", outside.f0)
    y0_gradient = batch.new_maps("state_gradient")
    f0_gradient = None if state[1] is None else batch.new_maps("slope_gradient")
    batch.run("attempt_gradient", gradients)
    return y0_gradient, f0_gradient
