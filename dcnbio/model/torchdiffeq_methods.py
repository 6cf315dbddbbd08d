"""The one file that knows torchdiffeq: its other methods by name, and its adjoint gradients.

References
----------
.. [1] Chen, R. T. Q., Rubanova, Y., Bettencourt, J. and Duvenaud, D. (2018). Neural Ordinary Differential Equations.
   NeurIPS. arXiv:1806.07366.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torchdiffeq import odeint, odeint_adjoint

from dcnbio.errors import InputError
from dcnbio.model.adjoint import not_solved_back
from dcnbio.model.device import double, has_double
from dcnbio.model.full_precision import full_precision_back
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import MEANING, Status
from dcnbio.model.steps import DifferentiableField, gradients_where_wanted

__all__ = ["solve_by_torchdiffeq"]

IN_DOUBLE = ("explicit_adams", "implicit_adams")


class Ended(Exception):  # noqa: N818 - it carries an outcome, not an error of the program
    """Leaves torchdiffeq's loop with an outcome."""

    def __init__(self, status: Status, time: float) -> None:
        super().__init__(status.name)
        self.status, self.time = status, time


class Watched:
    """A field that counts what torchdiffeq does with it, and ends the solve where our limits lie."""

    def __init__(self, field: DifferentiableField, settings: SolverSettings) -> None:
        self.field, self.settings = field, settings
        self.nfe, self.before, self.attempts, self.rejected = 0, 0, 0, 0
        self.step_times: list[float] = []

    def begin_anew(self) -> None:
        """Count evaluations and attempts from 0, since the limits are those of one solve, forwards or backwards."""
        self.before, self.nfe, self.attempts = self.before + self.nfe, 0, 0

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt, unless a limit is reached."""
        most = self.settings.max_evaluations
        if most is not None and self.nfe >= most:
            raise Ended(Status.MAX_EVALUATIONS, float(t.detach()))
        slope = self.field(t.to(h), h)
        self.nfe += 1
        if not bool(torch.isfinite(slope).all()):
            raise Ended(Status.NON_FINITE, float(t.detach()))
        return slope

    def attempt(self, t0: Tensor, dt: Tensor) -> None:
        """Count an attempted step, unless it may not be taken."""
        if self.attempts >= self.settings.max_steps:
            raise Ended(Status.MAX_STEPS, float(t0.detach()))
        if not bool(t0 + dt > t0):
            raise Ended(Status.STEP_UNDERFLOW, float(t0.detach()))
        self.attempts += 1

    def callback_step(self, t0: Tensor, y0: Tensor, dt: Tensor) -> None:
        """See a step begin."""
        self.attempt(t0, dt)
        if self.settings.fixed_step:
            self.step_times.append(float((t0 + dt).detach()))

    def callback_step_adjoint(self, t0: Tensor, state: tuple[Tensor, ...], dt: Tensor) -> None:
        """See a step backwards begin, of a state that torchdiffeq asserts to be finite."""
        self.attempt(t0, dt)
        if not all(bool(torch.isfinite(part).all()) for part in state):
            raise Ended(Status.NON_FINITE, float(t0.detach()))


class WatchedControl(Watched):
    """The same for methods that accept and reject steps; fixed-step methods warn of calls they do not make."""

    def callback_accept_step(self, t0: Tensor, y0: Tensor, dt: Tensor) -> None:
        """See a step accepted."""
        self.step_times.append(float((t0 + dt).detach()))

    def callback_reject_step(self, t0: Tensor, y0: Tensor, dt: Tensor) -> None:
        """See a step rejected."""
        self.rejected += 1


@dataclass(frozen=True)
class SharedNorm:
    """The root mean square over all processes that step together.

    Attributes
    ----------
    reduce : callable
        Adds a tensor up over processes.
    """

    reduce: Callable[[Tensor], Tensor]

    def __call__(self, values: Tensor) -> Tensor:
        """Take the norm of a state of which each process has some images."""
        sums = torch.stack([double(values.square().sum()), double(values.new_tensor(values.numel()))])
        total = self.reduce(sums)
        return (total[0] / total[1]).sqrt().to(values)

    def of_adjoint(self, state: tuple[Tensor, ...]) -> Tensor:
        """Take the largest norm of the parts of the adjoint state: time, h, its adjoint, and each parameter's.

        A process has a share of the parameters' gradients; their ratios to the tolerance are added up, near what
        one process finds but not equal to it: all processes take the same steps, and one alone may take others.
        """
        t, h, adjoint, *parameters = state
        shared = [self.reduce(p) for p in (t, *parameters)]
        norms = [self(h), self(adjoint), *(p.square().mean().sqrt() for p in shared if p.numel())]
        return torch.stack([n.to(h.dtype) for n in norms]).max()


class TorchdiffeqAdjoint(torch.autograd.Function):
    """A solve whose backward pass is torchdiffeq's, in full precision, and which says in words where it ends early."""

    @staticmethod
    def forward(ctx: Any, watched: Watched, times: Tensor, h0: Tensor, *tensors: Tensor) -> Tensor:
        """Solve; torchdiffeq's graph is kept aside."""
        with torch.enable_grad():
            start = h0.detach().requires_grad_()
            path = run(watched, start, times, tensors)
        ctx.watched, ctx.start, ctx.path = watched, start, path
        # autograd then frees the graph once it was gone back over, and refuses weights that were edited after the solve
        ctx.save_for_backward(*tensors)
        return path.detach()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Solve backwards."""
        tensors, watched = ctx.saved_tensors, ctx.watched
        watched.begin_anew()
        try:
            with full_precision_back(grad_path):
                found = gradients_where_wanted([ctx.path], (ctx.start, *tensors), [grad_path], keep=True)
        except Ended as outcome:
            why = f"after {watched.nfe} evaluations: {MEANING[outcome.status]}"
            raise not_solved_back(outcome.time, why, watched.settings) from outcome
        return (None, None, *found)


def run_with_adjoint(watched: Watched, h0: Tensor, times: Tensor) -> Tensor:
    """Call torchdiffeq for gradients by the adjoint method."""
    path: Tensor = TorchdiffeqAdjoint.apply(watched, times, h0, *watched.field.tensors())  # type: ignore[no-untyped-call]
    return path


def run(watched: Watched, h0: Tensor, times: Tensor, tensors: tuple[Tensor, ...] | None = None) -> Tensor:
    """Call torchdiffeq; `tensors` are what the adjoint method gives gradients of, None: no adjoint."""
    settings = watched.settings
    if settings.method in IN_DOUBLE and not has_double(h0):
        raise InputError(
            f"method is {settings.method}, which torchdiffeq works out in float64, and {h0.device.type} does "
            "not have that; use dopri5 or rk4, or the cpu."
        )
    arguments: dict[str, Any] = {"rtol": settings.rtol, "atol": settings.atol, "method": settings.method}
    options: dict[str, Any] = {"step_size": settings.step_size} if settings.fixed_step else {}
    if settings.first_step is not None and not settings.fixed_step:
        options["first_step"] = settings.first_step
    if settings.reduce is not None and not settings.fixed_step:
        options["norm"] = SharedNorm(settings.reduce)
        if tensors is not None:
            arguments["adjoint_options"] = {**options, "norm": SharedNorm(settings.reduce).of_adjoint}
    grid = times.to(h0.device) if has_double(h0) else times.to(h0)
    if not (has_double(h0) or settings.fixed_step):
        options["dtype"] = h0.dtype
    if options:
        arguments["options"] = options
    if tensors is None:
        path: Tensor = odeint(watched, h0, grid, **arguments)
    else:
        path = odeint_adjoint(watched, h0, grid, adjoint_params=tensors, **arguments)
    return path


def solve_by_torchdiffeq(
    field: DifferentiableField,
    h0: Tensor,
    times: Tensor,
    settings: SolverSettings,
    *,
    adjoint: bool,
    start: float = 0.0,
) -> Solution:
    """Solve with shared steps by torchdiffeq.

    Parameters
    ----------
    field : DifferentiableField
    h0 : Tensor, shape (n, ...)
    times : Tensor, shape (t,), float64
        Ascending; the last is the block's end.
    settings : SolverSettings
    adjoint : bool
        Gradients by the adjoint equation, solved backwards at the same tolerance, instead of through the solver.
    start : float
        Solver time of h0.

    Returns
    -------
    Solution
        Where the solve ended early, only the time it can be sure of (that of h0) holds numbers.
    """
    watched = (Watched if settings.fixed_step else WatchedControl)(field, settings)
    starts_late = float(times[0]) > start
    grid = torch.cat([times.new_tensor([start]), times]) if starts_late else times
    status, reached = Status.OK, float(times[-1])
    try:
        path = (run_with_adjoint if adjoint else run)(watched, h0, grid).transpose(0, 1)
    except Ended as outcome:
        status, reached = outcome.status, outcome.time
        path = torch.full((len(h0), len(grid), *h0.shape[1:]), torch.nan, dtype=h0.dtype, device=h0.device)
        path[:, 0] = h0
    path = path[:, 1:] if starts_late else path
    every = torch.ones(len(h0), dtype=torch.int64)
    forward = watched.nfe
    work = Work(
        nfe=every * forward,
        accepted=every * len(watched.step_times),
        rejected=every * watched.rejected,
        status=every * int(status),
        reached=every.double() * reached,
        step_times=(tuple(watched.step_times),) * len(h0),
        backward_nfe=(lambda: watched.before + watched.nfe - forward) if adjoint else None,
    )
    return Solution(times, path, work)
