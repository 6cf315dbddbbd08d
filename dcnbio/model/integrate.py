"""Integrates a vector field with Dormand-Prince 5(4): one loop, whether images share their steps or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from dcnbio.model.dense_output import DenseOutput
from dcnbio.model.dormand_prince import STAGES, Attempt
from dcnbio.model.error_norm import ErrorNorm
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status
from dcnbio.model.step_control import initial_step, next_step, settled_step

__all__ = ["StepField", "StepTape", "integrate"]

# attempts in a row with a non-finite error before it is the field, and not too long a step, that is at fault
STRIKES = 12


class StepField(Protocol):
    """A vector field that can be evaluated and stepped."""

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at time `t`, a scalar or one per image."""

    def attempt(self, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
        """Attempt one Dormand-Prince step."""


class StepTape(Protocol):
    """Whoever wants to see the accepted steps, to go back over them for gradients."""

    def record(self, rows: Tensor | None, t0: Tensor, dt: Tensor, y0: Tensor) -> None:
        """Take note of a step of the images `rows` (None: all) from `t0` over `dt`, starting at `y0`."""


@dataclass
class Ledger:
    """What each image's solve has come to so far."""

    attempts: Tensor
    accepted: Tensor
    status: Tensor
    reached: Tensor
    step_times: list[list[float]] = field(default_factory=list)

    @classmethod
    def empty(cls, images: int, start: float) -> Ledger:
        """Begin with nothing done."""
        zeros = torch.zeros(images, dtype=torch.int64)
        times: list[list[float]] = [[] for _ in range(images)]
        return cls(zeros, zeros.clone(), zeros.clone(), torch.full((images,), start, dtype=torch.float64), times)

    def work(self, first_evaluations: int) -> Work:
        """Sum up; NFE = evaluations for the first step + 6 per attempt."""
        nfe = first_evaluations + STAGES * self.attempts
        rejected = self.attempts - self.accepted
        steps = tuple(tuple(times) for times in self.step_times)
        return Work(nfe, self.accepted, rejected, self.status, self.reached, steps)


class Integration:
    """The images still on their way, their clocks and their states."""

    def __init__(
        self, vector_field: StepField, h0: Tensor, times: Tensor, settings: SolverSettings, start: float
    ) -> None:
        self.vector_field, self.settings = vector_field, settings
        self.end = float(times[-1])
        self.shared = settings.stepping == "shared"
        self.norm = ErrorNorm(self.shared, h0[0].numel(), settings.reduce)
        self.output = DenseOutput(times, h0, start)
        self.ledger = Ledger.empty(len(h0), start)
        self.rows = torch.arange(len(h0))
        clocks = 1 if self.shared else len(h0)
        self.t = torch.full((clocks,), start, dtype=torch.float64)
        self.strikes = torch.zeros(clocks, dtype=torch.int64)
        self.y = h0
        self.f = vector_field(self.t[0].to(h0), h0)
        self.dt = self.first_step()

    def first_step(self) -> Tensor:
        """Choose the first step by Hairer, Norsett and Wanner's rule, at the cost of one evaluation."""
        if self.settings.first_step is not None:
            return torch.full_like(self.t, self.settings.first_step)
        scale = self.settings.atol + self.settings.rtol * self.y.abs()
        d0, d1 = self.norm.of(self.y / scale), self.norm.of(self.f / scale)
        trial = initial_step(d0, d1)
        per_map = trial.to(self.y).reshape((-1,) + (1,) * (self.y.ndim - 1))
        later = (self.t + trial).to(self.y)
        after = self.vector_field(later[0] if self.shared else later, torch.addcmul(self.y, per_map, self.f))
        return settled_step(trial, d1, self.norm.of((after - self.f) / scale) / trial)

    def stop(self, clocks: Tensor, status: Status) -> None:
        """Note why the solve of these clocks ends before its time."""
        self.ledger.status[self.rows if self.shared else self.rows[clocks]] = int(status)

    def check(self) -> Tensor:
        """Find the clocks that may go on; note why the others may not."""
        attempts = self.ledger.attempts[self.rows[:1] if self.shared else self.rows]
        evaluations = self.first_evaluations + STAGES * (attempts + 1)
        most = self.settings.max_evaluations
        limits = {
            Status.MAX_STEPS: attempts >= self.settings.max_steps,
            Status.MAX_EVALUATIONS: evaluations > (most if most is not None else torch.inf),
            Status.STEP_UNDERFLOW: ~(self.t + self.dt > self.t),
            Status.NON_FINITE: (self.strikes >= STRIKES) | ~torch.isfinite(self.dt),
        }
        on = torch.ones_like(self.t, dtype=torch.bool)
        for status, reached in limits.items():
            if bool(reached.any()):
                self.stop(reached, status)
                on &= ~reached
        return on

    @property
    def first_evaluations(self) -> int:
        """Evaluations before the first attempt."""
        return 2 if self.settings.first_step is None else 1

    def keep(self, clocks: Tensor) -> None:
        """Go on with the images of these clocks alone."""
        if bool(clocks.all()):
            return
        self.t, self.dt, self.strikes = self.t[clocks], self.dt[clocks], self.strikes[clocks]
        if self.shared:
            self.rows = self.rows[:0]
            return
        self.rows, self.y, self.f = self.rows[clocks], self.y[clocks], self.f[clocks]

    def extend(self, good: Tensor, attempt: Attempt) -> None:
        """Show the accepted steps to the dense output: one for the batch, or one for each image."""
        if self.shared:
            self.output.add((self.t[0], self.dt[0]), (self.y, self.f), attempt)
            return
        rows = good.nonzero()[:, 0]
        self.output.add_each(self.rows[rows], rows, (self.t[rows], self.dt[rows]), (self.y, self.f), attempt)

    def accept(self, good: Tensor, attempt: Attempt, tape: StepTape | None) -> None:
        """Move the accepted images on, after their dense output and the tape have seen the step."""
        images = self.rows[good.expand(len(self.rows))]
        t1 = self.t + self.dt
        if tape is not None:
            whole = self.shared or len(images) == len(self.output.path)
            chosen = slice(None) if self.shared else good
            tape.record(None if whole else images, self.t[good], self.dt[good], self.y[chosen])
        self.extend(good, attempt)
        self.ledger.accepted[images] += 1
        ends = t1.detach()[good]
        self.ledger.reached[images] = ends.clamp(max=self.end)
        for image, time in zip(images.tolist(), ends.expand(len(images)).tolist(), strict=True):
            self.ledger.step_times[image].append(time)
        if bool(good.all()):
            self.y, self.f = attempt.y1, attempt.f1
        else:
            # the clocks are the CPU's; maps may lie elsewhere
            chosen = good.reshape((-1,) + (1,) * (self.y.ndim - 1)).to(self.y.device)
            self.y, self.f = torch.where(chosen, attempt.y1, self.y), torch.where(chosen, attempt.f1, self.f)
        self.t = torch.where(good, t1, self.t)

    def advance(self, tape: StepTape | None) -> None:
        """Attempt one step of every image still on its way."""
        tolerance = (self.settings.rtol, self.settings.atol)
        attempt = self.vector_field.attempt((self.y, self.f), self.t, self.dt, tolerance)
        ratio = self.norm(attempt.squares)
        lost = ~torch.isfinite(ratio)
        self.strikes = torch.where(lost, self.strikes + 1, 0)
        ratio = torch.where(lost, torch.finfo(torch.float64).max, ratio)
        good = ratio <= 1
        self.ledger.attempts[self.rows] += 1
        if bool(good.any()):
            self.accept(good, attempt, tape)
        self.dt = next_step(self.dt, ratio)
        self.keep(self.t < self.end)


def integrate(
    vector_field: StepField,
    h0: Tensor,
    times: Tensor,
    settings: SolverSettings,
    *,
    tape: StepTape | None = None,
    start: float = 0.0,
) -> Solution:
    """Solve dh/dt = f(t, h) from h0 at time `start` to the last of `times`.

    The last step goes past the end and h(T) is read from its dense output, so that neither steps nor h(T) depend on
    the times asked for; NFE = 2 + 6 attempts.

    Parameters
    ----------
    vector_field : StepField
    h0 : Tensor, shape (n, ...)
    times : Tensor, shape (t,), float64
        Ascending; the last is the block's end.
    settings : SolverSettings
    tape : StepTape, optional
        Sees every accepted step.
    start : float
        Solver time of h0; no time lies before it.

    Returns
    -------
    Solution
        With a status per image: nothing is raised when a solve fails.
    """
    if float(times[-1]) == start:
        return Solution.without_time(h0, times)
    solve = Integration(vector_field, h0, times, settings, start)
    while len(solve.rows):
        solve.keep(solve.check())
        if len(solve.rows):
            solve.advance(tape)
    return Solution(times, solve.output.finished(), solve.ledger.work(solve.first_evaluations))
