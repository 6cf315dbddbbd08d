"""Solves dh/dt = f(t, h) by whichever way the settings ask for."""

from __future__ import annotations

import math
import operator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.adjoint import solve_by_adjoint
from dcnbio.model.engine_slope import EngineSlope
from dcnbio.model.engine_steps import EngineSteps, suits_engine
from dcnbio.model.exact_gradient import solve_with_gradient
from dcnbio.model.fixed_steps import TABLEAUS, solve_by_fixed_steps
from dcnbio.model.integrate import integrate
from dcnbio.model.module_field import ModuleField
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.steps import DifferentiableField, TorchSteps
from dcnbio.model.torchdiffeq_methods import solve_by_torchdiffeq
from dcnbio.model.vector_field import ConvField

__all__ = ["solve", "solve_times"]


def solve_times(times: int | list[float] | Tensor, end: float) -> Tensor:
    """Lay out the times to record: that many equally spaced from 0 to the end, or those given.

    Parameters
    ----------
    times : int, list of float or Tensor
        A count of at least 2, or ascending solver times in [0, end].
    end : float
        T of the block.

    Returns
    -------
    Tensor, shape (t,), float64
        Solver times.

    Raises
    ------
    InputError
        If T is negative or not finite, there are fewer than 2 times, or they do not rise or leave [0, T].

    Examples
    --------
    >>> solve_times(3, 2.0).tolist()
    [0.0, 1.0, 2.0]
    """
    if not (math.isfinite(end) and end >= 0):
        raise InputError(f"integration_time is {end}; it must be finite and 0 or more (the paper uses 2).")
    if isinstance(times, int | np.integer):
        if times < 2:
            raise InputError(f"times is {times}; ask for 2 or more (the block's input and its output).")
        return torch.linspace(0, 1, operator.index(times), dtype=torch.float64) * end
    chosen = torch.as_tensor(times, dtype=torch.float64).reshape(-1)
    rising = len(chosen) > 0 and bool((chosen[1:] > chosen[:-1]).all())
    if not (rising and float(chosen[0]) >= 0 and float(chosen[-1]) <= end):
        raise InputError(f"times are {chosen.tolist()}; they must rise strictly and lie between 0 and T = {end:g}.")
    return chosen


def prepare(field: nn.Module, like: Tensor) -> DifferentiableField:
    """Make a module ready for one solve of maps such as `like`, in plain torch."""
    return field.prepare(like) if isinstance(field, ConvField) else ModuleField(field)


def prepared_for_adjoint(field: nn.Module, like: Tensor) -> DifferentiableField:
    """Make a module ready for the adjoint method: in the compiled engine where it suits, else in plain torch."""
    if isinstance(field, ConvField) and suits_engine(field, like):
        return EngineSlope(EngineSteps.of(field, like))
    return prepare(field, like)


def our_steps(field: nn.Module, like: Tensor) -> EngineSteps | TorchSteps:
    """Make a module ready for our own solver: in the compiled engine where it suits, else in plain torch."""
    if isinstance(field, ConvField) and suits_engine(field, like):
        return EngineSteps.of(field, like)
    return TorchSteps(prepare(field, like))


def takes_fixed_steps(field: nn.Module, h0: Tensor, duration: float, settings: SolverSettings) -> bool:
    """Whether this is a fixed-step method that the compiled engine takes, with no limit that could end it early."""
    if settings.method not in TABLEAUS or settings.step_size is None or settings.gradient != "exact":
        return False
    few = duration / settings.step_size < settings.max_steps and settings.max_evaluations is None
    return few and suits_engine(field, h0)


def joined(parts: list[Solution]) -> Solution:
    """Join solutions of single images to one of the batch; one alone is the batch's."""
    if len(parts) == 1:
        return parts[0]
    work = Work(
        nfe=torch.cat([part.work.nfe for part in parts]),
        accepted=torch.cat([part.work.accepted for part in parts]),
        rejected=torch.cat([part.work.rejected for part in parts]),
        status=torch.cat([part.work.status for part in parts]),
        reached=torch.cat([part.work.reached for part in parts]),
        step_times=tuple(times for part in parts for times in part.work.step_times),
    )
    return Solution(parts[0].times, torch.cat([part.path for part in parts]), work)


def solve(field: nn.Module, h0: Tensor, times: Tensor, settings: SolverSettings, start: float = 0.0) -> Solution:
    """Solve from h0 at time `start` to the last of `times`.

    Parameters
    ----------
    field : nn.Module
        f(t, h).
    h0 : Tensor, shape (n, c, y, x)
    times : Tensor, shape (t,), float64
        From `solve_times`; the last is the block's end T.
    settings : SolverSettings
    start : float
        Solver time of h0, for a solve that goes on from there; the time channel goes on at it.

    Returns
    -------
    Solution
        Gradients flow from its path where they are enabled and wanted. Where no time passes, it is h0, unevaluated.

    Raises
    ------
    InputError
        If the state is neither float32 nor float64. An image that cannot be solved raises nothing: its status says so.

    Examples
    --------
    >>> class Decay(nn.Module):
    ...     def forward(self, t, h):
    ...         return -h
    >>> h0 = torch.ones(1, 1, 1, 1, dtype=torch.float64)
    >>> found = solve(Decay(), h0, solve_times(2, 1.0), SolverSettings(rtol=1e-9, atol=1e-9))
    >>> round(float(found.final), 6), int(found.work.rejected[0])
    (0.367879, 0)
    """
    if h0.dtype not in (torch.float32, torch.float64):
        raise InputError(f"the state is {h0.dtype}; the solver works in float32 or float64, so convert the images.")
    if len(h0) == 0:
        return Solution.of_no_images(h0, times)
    trained = any(p.requires_grad for p in field.parameters())
    wanted = torch.is_grad_enabled() and (h0.requires_grad or trained)
    adjoint = wanted and settings.gradient == "adjoint"
    duration = float(times[-1]) - start
    if duration == 0:
        return Solution.without_time(h0, times)
    if settings.method == "dopri5" and not adjoint:
        if wanted and settings.gradient == "straight":
            return integrate(TorchSteps(prepare(field, h0)), h0, times, settings, start=start)
        steps = our_steps(field, h0)
        if wanted:
            return solve_with_gradient(steps, h0, times, settings, start)
        return integrate(steps, h0, times, settings, start=start)
    rows = [h0[i : i + 1] for i in range(len(h0))] if settings.stepping == "per-image" else [h0]
    if settings.method == "dopri5":
        steps, alike = our_steps(field, h0), replace(settings, stepping="shared")
        return joined([solve_by_adjoint(steps, row, times, alike, start) for row in rows])
    if isinstance(field, ConvField) and takes_fixed_steps(field, h0, duration, settings):
        steps = EngineSteps.of(field, h0)
        return solve_by_fixed_steps(steps, h0, times, settings, gradient=wanted, start=start)
    prepared = prepared_for_adjoint(field, h0) if adjoint else prepare(field, h0)
    return joined([solve_by_torchdiffeq(prepared, row, times, settings, adjoint=adjoint, start=start) for row in rows])
