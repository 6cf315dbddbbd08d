"""Gradients through the accepted steps of a solve: memory grows with the steps, not with their stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt
from dcnbio.model.full_precision import full_precision_back
from dcnbio.model.integrate import integrate
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.steps import StepGradient

__all__ = ["ReversibleSteps", "solve_with_gradient"]


class ReversibleSteps(Protocol):
    """A field that can be stepped, and whose steps can be gone back over."""

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt."""

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of."""

    def attempt(self, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
        """Attempt one step."""

    def pull_back(
        self, y0: Tensor, t0: Tensor, dt: Tensor, gradient: StepGradient
    ) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """Carry a gradient back over one step."""


@dataclass
class Tape:
    """The accepted steps of a solve, in order: whose they are, when they begin, how long they are, and the states."""

    clocks: list[tuple[Tensor | None, Tensor, Tensor]] = field(default_factory=list)
    states: list[Tensor] = field(default_factory=list)

    def record(self, rows: Tensor | None, t0: Tensor, dt: Tensor, y0: Tensor) -> None:
        """Keep a step; the state is never changed in place by the solver, so no copy is made."""
        self.clocks.append((rows, t0, dt))
        self.states.append(y0)


def add_up(total: list[Tensor | None], more: tuple[Tensor | None, ...]) -> None:
    """Add the gradients of one step to those of the steps after it."""
    for i, gradient in enumerate(more):
        if gradient is not None:
            before = total[i]
            total[i] = gradient if before is None else before + gradient


def wanted_inside(times: Tensor, grad_path: Tensor, t0: Tensor, dt: Tensor) -> tuple[tuple[Tensor, Tensor], ...]:
    """Find the output times inside a step, and the gradient that arrived for each."""
    inside = []
    for position, time in enumerate(times.tolist()):
        covered = (t0 < time) & (time <= t0 + dt)
        if bool(covered.any()):
            x = torch.where(covered, (time - t0) / dt, 0.0)
            mask = covered.to(grad_path).reshape((-1,) + (1,) * (grad_path.ndim - 2))
            inside.append((x, grad_path[:, position] * mask))
    return tuple(inside)


class ExactSolve(torch.autograd.Function):
    """A solve whose backward pass takes its accepted steps one by one, last to first."""

    @staticmethod
    def forward(ctx: Any, steps: ReversibleSteps, times: Tensor, request: Any, h0: Tensor, *tensors: Tensor) -> Tensor:
        """Solve; `request` is the settings, the time of h0 and a list that takes the solution."""
        settings, start, answer = request
        tape = Tape()
        solution = integrate(steps, h0, times, settings, tape=tape, start=start)
        answer.append(solution)
        ctx.steps, ctx.times, ctx.start, ctx.clocks = steps, times, start, tape.clocks
        # autograd then frees the states with the graph, and refuses weights that were edited after the solve
        ctx.save_for_backward(*tensors, *tape.states)
        return solution.path

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Go back over the steps."""
        with full_precision_back(grad_path):
            return ExactSolve.back_over(ctx, grad_path)

    @staticmethod
    def back_over(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Take the steps last to first."""
        saved = ctx.saved_tensors
        count = len(saved) - len(ctx.clocks)
        state = torch.zeros_like(grad_path[:, 0])
        totals: list[Tensor | None] = [None] * count
        beyond = torch.zeros(len(state), dtype=torch.bool)
        for (rows, t0, dt), y0 in reversed(list(zip(ctx.clocks, saved[count:], strict=True))):
            chosen = slice(None) if rows is None else rows
            inside = wanted_inside(ctx.times, grad_path[chosen], t0, dt)
            end = state[chosen] if bool(beyond[chosen].any()) else None
            if end is None and not inside:
                continue
            at_start, parameters = ctx.steps.pull_back(y0, t0, dt, StepGradient(end, inside))
            state[chosen] = at_start
            beyond[chosen] = True
            add_up(totals, parameters)
        for position, time in enumerate(ctx.times.tolist()):
            if time == ctx.start:
                state = state + grad_path[:, position]
        return (None, None, None, state, *totals)


def solve_with_gradient(
    steps: ReversibleSteps, h0: Tensor, times: Tensor, settings: SolverSettings, start: float = 0.0
) -> Solution:
    """Solve from h0 at time `start` so that gradients flow from the path to h0 and to `steps.tensors()`.

    The gradient is that of the numbers computed, with the step sizes held constant; it agrees with the adjoint method
    in the limit of small tolerance, and unlike it has no error of its own.
    """
    answer: list[Solution] = []
    request = (settings, start, answer)
    path: Tensor = ExactSolve.apply(steps, times, request, h0, *steps.tensors())  # type: ignore[no-untyped-call]
    return Solution(times, path, answer[0].work)
