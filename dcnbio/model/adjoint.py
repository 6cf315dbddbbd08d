"""The adjoint method: gradients of a solve by a second equation, solved backwards in time at the same tolerance.

References
----------
.. [1] Chen, R. T. Q., Rubanova, Y., Bettencourt, J. and Duvenaud, D. (2018). Neural Ordinary Differential Equations.
   NeurIPS. arXiv:1806.07366.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from dcnbio.errors import SolverError
from dcnbio.model.adjoint_state import AdjointLayout
from dcnbio.model.dormand_prince import COUPLING, ERROR, MIDPOINT, NODES, STAGES, Attempt, dense_weights
from dcnbio.model.full_precision import full_precision_back
from dcnbio.model.integrate import integrate
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.step_control import initial_step, next_step, settled_step

__all__ = ["AdjointField", "BackwardSolve", "not_solved_back", "solve_by_adjoint"]


def not_solved_back(t: float, why: str, settings: SolverSettings) -> SolverError:
    """Make the error of an adjoint equation that could not be solved back past the solver time `t`."""
    return SolverError(
        f"the adjoint equation could not be solved back past t = {t:.6g}, {why} (max_steps is {settings.max_steps}, "
        f"max_evaluations {settings.max_evaluations}): choose gradient='exact', which needs no solve backwards, a "
        "looser tolerance, or higher limits."
    )


class AdjointField(Protocol):
    """A field that can be stepped forwards, and evaluated with its derivative."""

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt."""

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of."""

    def attempt(self, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
        """Attempt one step."""

    def pull_back_slope(
        self, t: float, h: Tensor, gradient: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor | None, ...]]:
        """Evaluate dh/dt at `t`, and carry a gradient with respect to it back to h and to `tensors`."""


@dataclass
class BackwardSolve:
    """Solves d(h, a, g)/ds = (-f, a df/dh, a df/dtheta) in s = -t, with shared Dormand-Prince steps.

    a = dL/dh and g = dL/dtheta; h is solved backwards too, from where the solve forwards ended. Step control is
    torchdiffeq's: one step for the whole state, whose error norm is the largest root mean square of its parts.

    Attributes
    ----------
    steps : AdjointField
    settings : SolverSettings
    layout : AdjointLayout
    wanted : tuple of bool
        Which of the field's tensors gradients are wanted of.
    nfe : int
        Evaluations so far, each with its derivative.
    """

    steps: AdjointField
    settings: SolverSettings
    layout: AdjointLayout
    wanted: tuple[bool, ...]
    nfe: int = 0
    slopes: Tensor = field(init=False, repr=False)

    def slope(self, s: float, row: Tensor, out: Tensor) -> None:
        """Write the slope of the whole state at s = -t."""
        h, adjoint = self.layout.parts(row)[:2]
        f, at_h, found = self.steps.pull_back_slope(-s, h, adjoint)
        gradients = [g for g, wanted in zip(found, self.wanted, strict=True) if wanted]
        self.layout.write(out, f, at_h, gradients)
        self.layout.parts(out)[0].neg_()
        self.nfe += 1

    def moved(self, row: Tensor, weights: tuple[float, ...], ds: float) -> Tensor:
        """Give the state plus ds times a weighted sum of the first slopes."""
        used = row.new_tensor([weight * ds for weight in weights])
        return torch.addmv(row, self.slopes[: len(weights)].T, used)

    def first_step(self, s: float, row: Tensor) -> float:
        """Choose the first step by Hairer, Norsett and Wanner's rule, at the cost of one evaluation."""
        if self.settings.first_step is not None:
            return self.settings.first_step
        rtol, atol, reduce = self.settings.rtol, self.settings.atol, self.settings.reduce
        f0, f1 = self.slopes[0], self.slopes[1]

        def over_tolerance(values: Tensor) -> Tensor:
            return self.layout.norm(lambda piece: values[piece] / (atol + rtol * row[piece].abs()), reduce)

        d0, d1 = over_tolerance(row), over_tolerance(f0)
        trial = initial_step(d0, d1)
        self.slope(s + float(trial), torch.add(row, f0, alpha=float(trial)), f1)
        return float(settled_step(trial, d1, over_tolerance(f1 - f0) / trial))

    def error_ratio(self, row: Tensor, moved: Tensor, ds: float) -> Tensor:
        """Give the norm of the estimated error over what the tolerance allows."""
        weights = row.new_tensor([weight * ds for weight in ERROR])
        rtol, atol = self.settings.rtol, self.settings.atol

        def ratio(piece: slice) -> Tensor:
            allowed = torch.maximum(row[piece].abs(), moved[piece].abs()).mul_(rtol).add_(atol)
            return torch.mv(self.slopes[:, piece].T, weights).div_(allowed)

        return self.layout.norm(ratio, self.settings.reduce)

    def check(self, s: float, ds: float, attempts: int) -> None:
        """Raise SolverError where the solve cannot go on."""
        most = self.settings.max_evaluations
        beyond = most is not None and self.nfe + STAGES > most
        if attempts >= self.settings.max_steps or beyond or not s + ds > s:
            raise not_solved_back(-s, f"after {attempts} attempted steps, the next one of {ds:.3g}", self.settings)

    def attempt(self, s: float, row: Tensor, ds: float) -> tuple[Tensor, Tensor]:
        """Attempt one step; give its end and the ratio of its error to the tolerance."""
        moved = row
        for stage, (node, weights) in enumerate(zip(NODES, COUPLING, strict=True), 1):
            moved = self.moved(row, weights, ds)
            self.slope(s + node * ds, moved, self.slopes[stage])
        return moved, self.error_ratio(row, moved, ds)

    def between(self, row: Tensor, s: float, ds: float, moved: Tensor, end: float) -> Tensor:
        """Read the state at `end` from the dense output of the step that passes it."""
        at_start, at_end, half_way, slope_at_start, slope_at_end = dense_weights(
            torch.tensor((end - s) / ds, dtype=torch.float64)
        ).tolist()
        found = torch.add(row * at_start, moved, alpha=at_end)
        found.add_(self.moved(row, MIDPOINT, ds), alpha=half_way)
        found.add_(self.slopes[0], alpha=ds * slope_at_start)
        return found.add_(self.slopes[-1], alpha=ds * slope_at_end)

    def run(self, row: Tensor, start: float, end: float) -> Tensor:
        """Solve from s = `start` to s = `end`; the last step goes past it.

        Raises
        ------
        SolverError
            If a limit is reached, or the step becomes too small to move on; a state that is not finite ends there.
        """
        self.slopes = row.new_empty(1 + STAGES, len(row))
        s = start
        self.slope(s, row, self.slopes[0])
        ds = self.first_step(s, row)
        attempts = 0
        while True:
            self.check(s, ds, attempts)
            attempts += 1
            moved, ratio = self.attempt(s, row, ds)
            good = bool(ratio <= 1)
            if good and s + ds >= end:
                return self.between(row, s, ds, moved, end)
            if good:
                s, row = s + ds, moved
                self.slopes[0].copy_(self.slopes[-1])
            largest = torch.finfo(torch.float64).max
            ratio = ratio if bool(torch.isfinite(ratio)) else ratio.new_tensor(largest)
            ds = float(next_step(ratio.new_tensor(ds), ratio))


class AdjointSolve(torch.autograd.Function):
    """A solve whose backward pass solves the adjoint equation from output time to output time, last to first."""

    @staticmethod
    def forward(ctx: Any, steps: AdjointField, times: Tensor, request: Any, h0: Tensor, *tensors: Tensor) -> Tensor:
        """Solve; `request` is the settings, the time of h0 and lists that take the solution and the backward solve."""
        settings, start, answer, backward = request
        solution = integrate(steps, h0, times, settings, start=start)
        answer.append(solution)
        ctx.steps, ctx.settings, ctx.backward_solves = steps, settings, backward
        late = float(times[0]) > start
        ctx.grid = [start, *times.tolist()] if late else times.tolist()
        # autograd then frees the states with the graph, and refuses weights that were edited after the solve
        ctx.save_for_backward(h0, solution.path, *tensors)
        return solution.path

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Solve backwards."""
        with full_precision_back(grad_path):
            return AdjointSolve.back_over(ctx, grad_path)

    @staticmethod
    def back_over(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Solve backwards; at an output time h starts afresh from the path, and the gradient that arrived is added."""
        h0, path, *tensors = ctx.saved_tensors
        wanted = tuple(ctx.needs_input_grad[4:])
        shapes = tuple(tensor.shape for tensor, want in zip(tensors, wanted, strict=True) if want)
        solve = BackwardSolve(ctx.steps, ctx.settings, AdjointLayout(h0.shape, shapes), wanted)
        ctx.backward_solves.append(solve)
        late = len(ctx.grid) > path.shape[1]
        states = [h0, *path.unbind(1)] if late else list(path.unbind(1))
        arrived = [torch.zeros_like(h0), *grad_path.unbind(1)] if late else list(grad_path.unbind(1))
        adjoint, gradients = arrived[-1], [h0.new_zeros(shape) for shape in shapes]
        for i in range(len(states) - 1, 0, -1):
            row = solve.layout.row(states[i], adjoint, gradients)
            _, adjoint, *gradients = solve.layout.parts(solve.run(row, -ctx.grid[i], -ctx.grid[i - 1]))
            adjoint = adjoint + arrived[i - 1]
        solve.slopes = h0.new_empty(0)
        found = iter(gradients)
        return (None, None, None, adjoint, *(next(found) if want else None for want in wanted))


def solve_by_adjoint(
    steps: AdjointField, h0: Tensor, times: Tensor, settings: SolverSettings, start: float = 0.0
) -> Solution:
    """Solve from h0 at time `start`, with gradients by the adjoint equation, to h0 and to `steps.tensors()`.

    da/dt = -a df/dh, dL/dtheta = -integral from T to 0 of a df/dtheta dt, a(T) = dL/dh(T) [1]_; memory does not grow
    with the steps. The gradient has the error of its own solve, which the tolerance bounds step by step and no more.

    Parameters
    ----------
    steps : AdjointField
    h0 : Tensor, shape (n, ...)
    times : Tensor, shape (t,), float64
        Ascending; the last is the block's end.
    settings : SolverSettings
        Of dopri5, with shared stepping.
    start : float
        Solver time of h0.

    Returns
    -------
    Solution
        With `backward_nfe` in its work.

    Notes
    -----
    The steps and numbers are those of ``torchdiffeq.odeint_adjoint`` with the same tolerance both ways, to rounding
    (which a solve backwards can make much of, where steps and tolerance are small). f comes with its derivative from
    one evaluation, where torchdiffeq's autograd takes two, and the stages of a step are added up in one product.
    Where f depends on t, torchdiffeq solves for dL/dt too, which nobody asks for, and lets its error shorten steps.
    """
    answer: list[Solution] = []
    backward: list[BackwardSolve] = []
    request = (settings, start, answer, backward)
    path: Tensor = AdjointSolve.apply(steps, times, request, h0, *steps.tensors())  # type: ignore[no-untyped-call]
    work = replace(answer[0].work, backward_nfe=lambda: sum(solve.nfe for solve in backward))
    return Solution(times, path, work)
