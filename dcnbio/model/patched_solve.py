"""Solves a block whose hidden state is changed on the way: a solve from each change to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from dcnbio.model.patch import Patch
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solve import solve
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

__all__ = ["after", "solve_patched"]

# a patch at a time that is asked for up to rounding is at that time
SAME_TIME = 1e-9


def snapped(time: float, grid: Tensor) -> float:
    """Give the asked-for time that a patch's time is up to rounding, or the time itself."""
    nearest = float(grid[(grid - time).abs().argmin()])
    return nearest if abs(nearest - time) <= SAME_TIME * max(1.0, abs(time)) else time


def spread(values: Tensor, alive: Tensor, fill: float) -> Tensor:
    """Give rows for all images, of rows for those that are alive."""
    whole = values.new_full((len(alive), *values.shape[1:]), fill)
    whole[alive] = values
    return whole


def solve_alive(part_of_field: Callable[[Tensor], Solution], h: Tensor, alive: Tensor, times: Tensor) -> Solution:
    """Solve those images alone that came so far; the others stay without numbers."""
    n = len(h)
    if bool(alive.all()):
        return part_of_field(h)
    none = torch.zeros(n, dtype=torch.int64)
    if not bool(alive.any()):
        path = h.new_full((n, len(times), *h.shape[1:]), torch.nan)
        return Solution(times, path, Work(none, none, none, none, none.double(), ((),) * n))
    found = part_of_field(h[alive.to(h.device)])
    work, steps = found.work, iter(found.work.step_times)
    nfe, accepted, rejected, status = (
        spread(values, alive, 0) for values in (work.nfe, work.accepted, work.rejected, work.status)
    )
    step_times = tuple(next(steps) if one else () for one in alive.tolist())
    reached = spread(work.reached, alive, 0)
    whole = Work(nfe, accepted, rejected, status, reached, step_times, work.backward_nfe)
    return Solution(times, spread(found.path, alive.to(h.device), torch.nan), whole)


def both(one: Callable[[], int] | None, other: Callable[[], int] | None) -> Callable[[], int] | None:
    """Add two counts up when they are asked for."""
    if one is None or other is None:
        return one or other
    return lambda: one() + other()


def after(first: Work, second: Work, moment: float) -> Work:
    """Add up the work of two solves, the second of which began at `moment`."""
    alive = first.status == Status.OK
    pairs = zip(first.step_times, second.step_times, strict=True)
    return Work(
        nfe=first.nfe + second.nfe,
        accepted=first.accepted + second.accepted,
        rejected=first.rejected + second.rejected,
        status=torch.where(alive, second.status, first.status),
        reached=torch.where(alive, second.reached, first.reached),
        # the step that passed over the patch counts up to it
        step_times=tuple((*(min(t, moment) for t in before), *later) for before, later in pairs),
        backward_nfe=both(first.backward_nfe, second.backward_nfe),
    )


def solve_patched(
    field: nn.Module, h0: Tensor, times: Tensor, settings: SolverSettings, patches: Sequence[Patch]
) -> Solution:
    """Solve from h0 at time 0 to the last of `times`, changing h at the time of each patch.

    Parameters
    ----------
    field : nn.Module
        f(t, h).
    h0 : Tensor, shape (n, c, y, x)
    times : Tensor, shape (t,), float64
        The last is the block's end T.
    settings : SolverSettings
        Limits hold for each part of the solve.
    patches : sequence of Patch
        Of this block; those at one time are applied in the order given.

    Returns
    -------
    Solution
        h at a patch's time is what it is after the patch. Evaluations and steps are the sum over the parts: each part
        chooses its first step anew and its last step is read from the dense output.

    Notes
    -----
    A patch that changes nothing leaves h(t) as it was within the tolerance of the solver, not bit for bit, since it
    breaks a step in two.

    Examples
    --------
    >>> class Decay(nn.Module):
    ...     def forward(self, t, h):
    ...         return -h
    >>> h0, times = torch.ones(1, 1, 1, 1, dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64)
    >>> found = solve_patched(Decay(), h0, times, SolverSettings(rtol=1e-9, atol=1e-9), [Patch(1, 0.5, "set", 2.0)])
    >>> round(float(found.final), 6)
    1.213061
    """
    moments = {patch: snapped(patch.time, times) for patch in patches}
    h, start = h0, 0.0
    pieces: list[Tensor] = []
    work: Work | None = None

    def go_on(grid: Tensor) -> Solution:
        alive = torch.ones(len(h), dtype=torch.bool) if work is None else work.status == Status.OK
        return solve_alive(lambda rows: solve(field, rows, grid, settings, start), h, alive, grid)

    for moment in sorted(set(moments.values())):
        if moment > start:
            inside = times[(times >= start) & (times < moment)]
            part = go_on(torch.cat([inside, times.new_tensor([moment])]))
            pieces.append(part.path[:, :-1])
            work = part.work if work is None else after(work, part.work, start)
            h, start = part.final, moment
        for patch in patches:
            if moments[patch] == moment:
                h = patch.applied(h)
    part = go_on(times[times >= start])
    pieces.append(part.path)
    whole = part.work if work is None else after(work, part.work, start)
    return Solution(times, torch.cat(pieces, 1), whole)
