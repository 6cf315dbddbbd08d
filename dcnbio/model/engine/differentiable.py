"""The engine's evaluations and steps as differentiable functions of state and parameters."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dcnbio.model.engine.calls import (
    AttemptGradients,
    EngineAttempt,
    Tolerance,
    attempt,
    attempt_vjp,
    evaluate,
    evaluate_vjp,
)
from dcnbio.model.engine.compiled_field import CompiledField
from dcnbio.model.engine.parameters import FieldParameters

__all__ = ["differentiable_attempt", "differentiable_evaluate", "new_gradients"]


def new_gradients(field: CompiledField, wanted: tuple[bool, ...] | None = None) -> list[Tensor | None]:
    """Return zeros like each of ``field.parameters.tensors()``, or None where it is not wanted.

    Parameters
    ----------
    field : CompiledField
    wanted : tuple of bool, optional
        One for each of its tensors; all if left out.

    Returns
    -------
    list of Tensor or None
        Each of the same shape as its parameter.
    """
    tensors = field.parameters.tensors()
    wanted = wanted or (True,) * len(tensors)
    return [torch.zeros_like(tensor) if want else None for tensor, want in zip(tensors, wanted, strict=True)]


def _together(field: CompiledField, wanted: tuple[bool, ...]) -> list[Tensor | None]:
    """Ask for a norm's weight and bias together, as the library writes them."""
    first_norm = len(wanted) - 6
    pairs = [wanted[i] or wanted[i + 1] for i in range(first_norm, len(wanted), 2)]
    return new_gradients(field, (*wanted[:first_norm], *(pair for pair in pairs for _ in range(2))))


class _Evaluate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, field: CompiledField, time: Tensor, state: Tensor, *tensors: Tensor) -> Tensor:
        ctx.field, ctx.time = field, time
        # the parameters too, so that autograd refuses ones that were edited after the call
        ctx.save_for_backward(state, *tensors)
        return evaluate(field, time, state)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Tensor) -> tuple[Any, ...]:
        gradients = _together(ctx.field, tuple(ctx.needs_input_grad[3:]))
        state = ctx.saved_tensors[0]
        _, state_gradient = evaluate_vjp(ctx.field, ctx.time, state, outside[0], gradients)
        return None, None, state_gradient, *gradients


class _Attempt(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        field: CompiledField,
        steps: tuple[Tensor | float, Tensor | float, Tolerance],
        y0: Tensor,
        f0: Tensor,
        *tensors: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.field, ctx.steps = field, steps
        ctx.save_for_backward(y0, f0, *tensors)
        ctx.set_materialize_grads(False)
        result = attempt(field, (y0, f0), *steps)
        ctx.mark_non_differentiable(result.squares)
        return tuple(result)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Tensor | None) -> tuple[Any, ...]:
        gradients = _together(ctx.field, tuple(ctx.needs_input_grad[4:]))
        known = AttemptGradients(y1=outside[0], f1=outside[1], y_mid=outside[2])
        y0, f0, *_ = ctx.saved_tensors
        time, step, _ = ctx.steps
        y0_gradient, f0_gradient = attempt_vjp(ctx.field, (y0, f0), time, step, known, gradients)
        return None, None, y0_gradient, f0_gradient, *gradients


def differentiable_evaluate(
    parameters: FieldParameters, time: Tensor | float, state: Tensor, field: CompiledField | None = None
) -> Tensor:
    """Evaluate dh/dt with gradients to state and parameters (time is held constant).

    Parameters
    ----------
    parameters : FieldParameters
    time : Tensor or float
        Scalar or [n].
    state : Tensor
        [n, C, Y, X].
    field : CompiledField, optional
        Made from `parameters` before, where they serve many calls.

    Returns
    -------
    Tensor
        [n, C, Y, X].
    """
    field = field or CompiledField.of(parameters, int(state.shape[2]), int(state.shape[3]))
    result: Tensor = _Evaluate.apply(field, torch.as_tensor(time, dtype=torch.float64), state, *parameters.tensors())  # type: ignore[no-untyped-call]
    return result


def differentiable_attempt(
    field: CompiledField,
    parameters: FieldParameters,
    state: tuple[Tensor, Tensor],
    steps: tuple[Tensor | float, Tensor | float, Tolerance],
) -> EngineAttempt:
    """Attempt one step with gradients to y0, f0 and parameters through y1, f1 and y_mid.

    Parameters
    ----------
    field : CompiledField
        Made from `parameters`, once per solve.
    parameters : FieldParameters
        The tensors that receive gradients.
    state : tuple of Tensor
        y0 and f0.
    steps : tuple
        Time, step and Tolerance, as `attempt` takes them; held constant.

    Returns
    -------
    EngineAttempt
    """
    result = _Attempt.apply(field, steps, *state, *parameters.tensors())  # type: ignore[no-untyped-call]
    return EngineAttempt(*result)
