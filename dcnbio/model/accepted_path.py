"""Keeps h at the steps that the solver accepted, which are each image's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.integrate import integrate
from dcnbio.model.solution import Solution
from dcnbio.model.solve import our_steps
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

__all__ = ["solve_accepted"]


@dataclass
class StepStarts:
    """The states from which steps were accepted, per image, with their times."""

    states: list[list[tuple[float, Tensor]]] = field(default_factory=list)

    def record(self, rows: Tensor | None, t0: Tensor, dt: Tensor, y0: Tensor) -> None:
        """Keep where a step began; the solver never changes a state in place."""
        images = range(len(self.states)) if rows is None else rows.tolist()
        for place, image in enumerate(images):
            self.states[image].append((float(t0[place if len(t0) > 1 else 0]), y0[place]))


def solve_accepted(vector_field: nn.Module, h0: Tensor, end: float, settings: SolverSettings) -> Solution:
    """Solve from h0 at time 0 to `end` and keep h wherever a step ended, without gradients.

    Parameters
    ----------
    vector_field : nn.Module
        f(t, h).
    h0 : Tensor, shape (n, c, y, x)
    end : float
        T of the block.
    settings : SolverSettings
        Of method dopri5: others do not show their steps.

    Returns
    -------
    Solution
        ``times`` (n, k) and ``path`` (n, k, c, y, x) hold h(0), h where each accepted step but the last ended, and
        h(T), since the last step goes past T; NaN after an image's last. An image whose solve ended early has what came
        before its last accepted step.

    Raises
    ------
    InputError
        If the method is another.

    Examples
    --------
    >>> class Decay(nn.Module):
    ...     def forward(self, t, h):
    ...         return -h
    >>> found = solve_accepted(Decay(), torch.ones(2, 1, 1, 1), 2.0, SolverSettings(stepping="per-image"))
    >>> found.times.shape == found.path.shape[:2], found.times[0, [0, -1]].tolist()
    (True, [0.0, 2.0])
    """
    if settings.method != "dopri5":
        raise InputError(
            f"times is 'accepted' and method is {settings.method}; only dopri5 records its own steps, so give the "
            "solver times."
        )
    times = torch.tensor([end], dtype=torch.float64)
    if len(h0) == 0:
        return Solution.of_no_images(h0, times)
    starts = StepStarts([[] for _ in range(len(h0))])
    with torch.no_grad():
        found = integrate(our_steps(vector_field, h0), h0, times, settings, tape=starts)
    for image in (found.work.status == Status.OK).nonzero()[:, 0].tolist():
        starts.states[image].append((end, found.final[image]))
    most = max(1, *(len(states) for states in starts.states))
    moments = torch.full((len(h0), most), torch.nan, dtype=torch.float64)
    path = h0.new_full((len(h0), most, *h0.shape[1:]), torch.nan)
    for image, states in enumerate(starts.states):
        for place, (time, state) in enumerate(states):
            moments[image, place], path[image, place] = time, state
    return Solution(moments, path, found.work, found.final)
