"""Solves images without contrast, from which h starts where the norms multiply errors most."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.patched_solve import after
from dcnbio.model.solution import Solution
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.responses.exactness import tightened

__all__ = ["BLANK", "EARLY", "SHARPER", "BlankTolerance", "solve_blank"]

# by about the square root of the norms' eps h has moved so far that its variance is above eps: dh/dt has a root mean
# square of about 1 (eps is 1e-5)
EARLY = 0.003


@dataclass(frozen=True)
class BlankTolerance:
    """How exactly an image without contrast is solved, in rtol and atol.

    Attributes
    ----------
    early : float
        Before `EARLY`.
    late : float
        After it.
    """

    early: float
    late: float


# Measured on an untrained dcn-ode, whose norms have no offsets, as the largest change of z(T) in block 1: 2.2 from 1e-9
# to 1e-13 before EARLY, 0.009 on to 3e-14, 0.0016 on to 1e-14, 0.0002 on to 5e-15, where float64 rounds at 2e-16. After
# EARLY, 1e-9 leaves h(T) within 3e-6. A trained dcn-ode changes by 0.0005 from 1e-9 to 1e-13, and by 1e-7 on.
BLANK = BlankTolerance(1e-14, 1e-9)
SHARPER = BlankTolerance(3e-15, 1e-10)  # to see what is left of the error


def solve_blank(
    block: ODEBlock, h: Tensor, settings: SolverSettings, times: int, tolerance: BlankTolerance = BLANK
) -> Solution:
    """Solve a block from maps that are uniform in every channel, tightly until they are not.

    A uniform map has no variance, so that the first norm divides the map's smallest movement by the square root of eps.
    If the norms have no offsets either, as before training, dh/dt is 0 at the start, all three norms do that, and an
    error made there grows by up to 1 / eps^1.5 and more before h has moved.

    Parameters
    ----------
    block : ODEBlock
    h : Tensor, float64, shape (n, c, y, x)
        h(0).
    settings : SolverSettings
    times : int
        Equally spaced times to record.
    tolerance : BlankTolerance

    Returns
    -------
    Solution
        As of ``block.run``. Where the start cannot be solved so tightly, the whole is solved to the late tolerance.

    Notes
    -----
    It misleads as what float32 makes of such an image: there rounding alone decides where h goes.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(2,), norm_groups=2, integration_time=0.1).double()
    >>> with torch.no_grad():
    ...     found = solve_blank(net.block(1), torch.zeros(1, 2, 30, 30).double(), net.solver, 2)
    >>> found.times.tolist(), tuple(found.path.shape)
    ([0.0, 0.1], (1, 2, 2, 30, 30))
    """
    late, end = tightened(settings, tolerance.late), block.integration_time
    if end == 0:
        return block.run(h, late, times)
    moment, grid = min(EARLY, end), solve_times(times, end)
    first = torch.cat([grid[grid < moment], grid.new_tensor([moment])])
    begun = solve(block.field, h, first, tightened(settings, tolerance.early))
    if not begun.ok or moment == end:
        return begun if begun.ok else block.run(h, late, times)
    rest = solve(block.field, begun.final, grid[grid >= moment], late, start=moment)
    return Solution(grid, torch.cat([begun.path[:, :-1], rest.path], 1), after(begun.work, rest.work, moment))
