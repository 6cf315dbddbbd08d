"""Explicit Runge-Kutta methods with steps of a given size, in the compiled engine, with exact gradients.

They are torchdiffeq's methods of the same names, "rk4" being the 3/8 rule, several times faster.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from dcnbio.model.engine_steps import EngineSteps
from dcnbio.model.exact_gradient import add_up
from dcnbio.model.full_precision import full_precision_back
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

__all__ = ["TABLEAUS", "Tableau", "solve_by_fixed_steps", "step_edges"]

Gradients = tuple[Tensor | None, ...]
# when a step begins and ends, and the states of its stages
Step = tuple[float, float, list[Tensor]]


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: stage i is at t0 + nodes[i] dt, y0 + dt sum_j coupling[i][j] k_j.

    Attributes
    ----------
    nodes, weights : tuple of float
    coupling : tuple of tuple of float
    """

    nodes: tuple[float, ...]
    coupling: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


TABLEAUS = {
    "euler": Tableau((0.0,), ((),), (1.0,)),
    "midpoint": Tableau((0.0, 1 / 2), ((), (1 / 2,)), (0.0, 1.0)),
    "rk4": Tableau(
        (0.0, 1 / 3, 2 / 3, 1.0), ((), (1 / 3,), (-1 / 3, 1.0), (1.0, -1.0, 1.0)), (1 / 8, 3 / 8, 3 / 8, 1 / 8)
    ),
}


def step_edges(end: float, step_size: float, start: float = 0.0) -> list[float]:
    """List where the steps begin and end: multiples of the step size from the start, the last step cut at the end.

    Examples
    --------
    >>> step_edges(2.0, 0.75)
    [0.0, 0.75, 1.5, 2.0]
    """
    # rounding must not leave a sliver of a step at the end
    count = max(1, math.ceil((end - start) / step_size - 1e-9))
    return [start + step_size * i for i in range(count)] + [end]


@dataclass
class FixedWalk:
    """One solve with fixed steps: its path at the output times and, for gradients, the states of all stages."""

    steps: EngineSteps
    times: list[float]
    settings: SolverSettings
    start: float = 0.0
    path: list[Tensor] = field(default_factory=list)
    tape: list[Step] = field(default_factory=list)

    @property
    def tableau(self) -> Tableau:
        """The method."""
        return TABLEAUS[self.settings.method]

    def edges(self) -> list[float]:
        """Where the steps begin and end."""
        return step_edges(self.times[-1], float(self.settings.step_size or self.times[-1]), self.start)

    def step(self, y0: Tensor, t0: float, dt: float) -> tuple[Tensor, list[Tensor]]:
        """Take one step; give its end and the states of its stages."""
        slopes: list[Tensor] = []
        states: list[Tensor] = []
        for node, row in zip(self.tableau.nodes, self.tableau.coupling, strict=True):
            states.append(added(y0, dt, row, slopes))
            slopes.append(self.steps(torch.tensor(t0 + node * dt, dtype=torch.float64), states[-1]))
        return added(y0, dt, self.tableau.weights, slopes), states

    def forward(self, h0: Tensor, keep: bool) -> Work:
        """Walk to the end; an image that stops being finite is marked, and walked on."""
        y = h0.detach().contiguous(memory_format=torch.channels_last)
        status = torch.full((len(y),), int(Status.OK), dtype=torch.int64)
        reached = torch.full((len(y),), self.times[-1], dtype=torch.float64)
        if self.times[0] == self.start:
            self.path.append(y)
        edges = self.edges()
        for t0, t1 in itertools.pairwise(edges):
            y1, states = self.step(y, t0, t1 - t0)
            self.path += [torch.lerp(y, y1, (t - t0) / (t1 - t0)) if t < t1 else y1 for t in self.inside(t0, t1)]
            if keep:
                self.tape.append((t0, t1, states))
            if not bool(torch.isfinite(y1.sum())):
                lost = ~torch.isfinite(y1).flatten(1).all(1) & (status == Status.OK)
                status[lost], reached[lost] = int(Status.NON_FINITE), t0
            y = y1
        every = torch.ones(len(y), dtype=torch.int64)
        taken = every * (len(edges) - 1)
        ends = (tuple(edges[1:]),) * len(y)
        return Work(taken * len(self.tableau.nodes), taken, every * 0, status, reached, ends)

    def inside(self, t0: float, t1: float) -> list[float]:
        """Output times that a step covers."""
        return [t for t in self.times if t0 < t <= t1]

    def backward(self, tape: list[Step], grad_path: Tensor) -> tuple[Tensor, Gradients]:
        """Carry the gradient of the path back to h0 and to the field's tensors."""
        grads = list(grad_path.unbind(1))
        state = torch.zeros_like(grads[-1], memory_format=torch.channels_last)
        totals: list[Tensor | None] = [None] * len(self.steps.tensors())
        for t0, t1, states in reversed(tape):
            start = torch.zeros_like(state)
            for time in reversed(self.inside(t0, t1)):
                wanted = grads[self.times.index(time)]
                share = (time - t0) / (t1 - t0) if time < t1 else 1.0
                state, start = state + share * wanted, start + (1 - share) * wanted
            state, parameters = self.pull_back((t0, t1, states), state)
            state = state + start
            add_up(totals, parameters)
        return (state + grads[0] if self.times[0] == self.start else state), tuple(totals)

    def pull_back(self, taken: Step, end: Tensor) -> tuple[Tensor, Gradients]:
        """Carry a gradient from the end of a step to its start."""
        t0, t1, states = taken
        dt = t1 - t0
        slopes = [dt * w * end if w else None for w in self.tableau.weights]
        totals: list[Tensor | None] = [None] * len(self.steps.tensors())
        for i in reversed(range(len(states))):
            slope = slopes[i]
            if slope is None:
                continue
            _, at_stage, parameters = self.steps.pull_back_slope(t0 + self.tableau.nodes[i] * dt, states[i], slope)
            add_up(totals, parameters)
            end = end + at_stage
            for j, a in enumerate(self.tableau.coupling[i]):
                before = slopes[j]
                slopes[j] = dt * a * at_stage if before is None else torch.add(before, at_stage, alpha=dt * a)
        return end, tuple(totals)


def added(y0: Tensor, dt: float, weights: tuple[float, ...], slopes: list[Tensor]) -> Tensor:
    """Give y0 + dt * sum of weights times slopes."""
    total = y0
    for weight, slope in zip(weights, slopes, strict=True):
        if weight:
            total = torch.add(total, slope, alpha=dt * weight)
    return total


class FixedSolve(torch.autograd.Function):
    """A solve with fixed steps whose backward pass takes them last to first."""

    @staticmethod
    def forward(ctx: Any, walk: FixedWalk, answer: list[Work], h0: Tensor, *tensors: Tensor) -> Tensor:
        """Walk forwards; the work goes into `answer`."""
        answer.append(walk.forward(h0, keep=True))
        path = torch.stack(walk.path, 1)
        ctx.clocks = [(t0, t1) for t0, t1, _ in walk.tape]
        # autograd then frees the states with the graph, and refuses weights that were edited after the solve
        ctx.save_for_backward(*tensors, *(state for _, _, states in walk.tape for state in states))
        ctx.walk = replace(walk, path=[], tape=[])
        return path

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_path: Tensor) -> tuple[Any, ...]:
        """Walk backwards."""
        saved, stages = ctx.saved_tensors, len(ctx.walk.tableau.nodes)
        states = iter(saved[len(saved) - stages * len(ctx.clocks) :])
        tape = [(t0, t1, [next(states) for _ in range(stages)]) for t0, t1 in ctx.clocks]
        with full_precision_back(grad_path):
            state, totals = ctx.walk.backward(tape, grad_path)
        return (None, None, state, *totals)


def solve_by_fixed_steps(
    steps: EngineSteps, h0: Tensor, times: Tensor, settings: SolverSettings, *, gradient: bool, start: float = 0.0
) -> Solution:
    """Solve with steps of ``settings.step_size``, the last cut at the end; linear between steps, as torchdiffeq is.

    Parameters
    ----------
    steps : EngineSteps
    h0 : Tensor, shape (n, c, y, x)
    times : Tensor, shape (t,), float64
        Ascending; the last is the block's end.
    settings : SolverSettings
        Of a method in `TABLEAUS`.
    gradient : bool
        Whether gradients are to flow to h0 and the field; the states of all stages are then kept.
    start : float
        Solver time of h0.

    Returns
    -------
    Solution
        NFE is stages times steps.

    Notes
    -----
    It misleads when a network was trained with few steps: it may have learned the steps, and not the equation. Compare
    with dopri5 at a small tolerance.
    """
    walk = FixedWalk(steps, times.tolist(), settings, start)
    if not gradient:
        work = walk.forward(h0, keep=False)
        return Solution(times, torch.stack(walk.path, 1), work)
    answer: list[Work] = []
    path: Tensor = FixedSolve.apply(walk, answer, h0, *steps.tensors())  # type: ignore[no-untyped-call]
    return Solution(times, path, answer[0])
