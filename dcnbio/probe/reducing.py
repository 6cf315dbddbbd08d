"""Reduces the maps of a batch while they are solved for, so that they need not be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.model.apart import one_by_one
from dcnbio.model.engine_steps import EngineSteps
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.patch import Patch
from dcnbio.model.solution import Solution
from dcnbio.model.solve import our_steps
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.steps import TorchSteps
from dcnbio.probe.selection import Part
from dcnbio.recording.reductions import Maps, Reduction, group_normalised

__all__ = ["BlockInMotion", "reduced"]


@dataclass(frozen=True, eq=False)
class BlockInMotion:
    """A block's solution with what it takes to look at it in other ways.

    Attributes
    ----------
    net : Network
    block : int
    part : Part
        Of the maps, that is recorded.
    solver : SolverSettings
    patches : sequence of Patch
        Those in later blocks act on what is solved onward.
    intact : Tensor, shape (n, t, c, y, x), optional
        The block's path without mask and patches.
    """

    net: Network
    block: int
    part: Part
    solver: SolverSettings
    patches: Sequence[Patch] = ()
    intact: Tensor | None = None

    @property
    def apart(self) -> bool:
        """Whether each image has its own steps."""
        return self.solver.stepping == "per-image"

    def slope(self, t: Tensor, h: Tensor) -> Tensor:
        """Give dh/dt at h, shape (n, c, y, x), and the times t, shape (n,)."""
        times = t.to(h)
        return self.field(times if bool((t != t[0]).any()) else times[0], h)

    @cached_property
    def field(self) -> EngineSteps | TorchSteps:
        """The vector field, made ready once."""
        block, weight = self.net.block(self.block), next(self.net.parameters())
        if not isinstance(block, ODEBlock):
            raise TypeError("a residual block has no vector field")  # the plan refuses it
        return our_steps(block.field, weight.new_zeros((1, *self.part.size)))

    def readout(self, h: Tensor) -> Tensor:
        """Give the readout's class scores of h, shape (n, classes)."""
        return one_by_one(self.net.readout, h, self.apart)

    def onward(self, h: Tensor) -> Tensor:
        """Give the class scores of the rest of the network."""
        return self.net.run_on(h, self.block, self.solver, self.patches)


@dataclass(frozen=True, eq=False)
class Moment:
    """One batch at one recorded time, in whatever way a reduction takes it.

    Attributes
    ----------
    motion : BlockInMotion
    h : Tensor, shape (n, c, y, x)
        Of images that have numbers at this time.
    t : Tensor, shape (n,)
    intact : Tensor, shape (n, c, y, x), or None
    """

    motion: BlockInMotion
    h: Tensor
    t: Tensor
    intact: Tensor | None
    seen: dict[Maps, NDArray[np.float64]] = field(default_factory=dict)

    def take(self, maps: Maps) -> NDArray[np.float64]:
        """Give what a reduction takes; it is computed once."""
        if maps not in self.seen:
            self.seen[maps] = array(self.way(maps))
        return self.seen[maps]

    def way(self, maps: Maps) -> Tensor:
        """Compute it."""
        motion, part = self.motion, self.motion.part
        # no table of functions: each would hold this object, and with it a batch of maps, until garbage is collected
        match maps:
            case Maps.STATE:
                return part.of(self.h)
            case Maps.NORMALISED:
                return part.of(self.normalised(self.h))
            case Maps.INTACT:
                return part.of(self.pair())
            case Maps.INTACT_NORMALISED:
                return part.of(self.normalised(self.pair()))
            case Maps.SLOPE:
                return part.of(motion.slope(self.t, self.h))
            case Maps.READOUT:
                return motion.readout(self.h)
            case Maps.ONWARD:
                return motion.onward(self.h)

    def pair(self) -> Tensor:
        """Give h beside the intact image's, shape (n, 2, c, y, x)."""
        if self.intact is None:
            raise TypeError("there is no intact run")  # the plan refuses it
        return torch.stack([self.h, self.intact], 1)

    def normalised(self, maps: Tensor) -> Tensor:
        """Give maps (..., c, y, x), group-normalised."""
        return torch.from_numpy(group_normalised(array(maps), self.motion.net.spec.groups(maps.shape[-3])))


def array(tensor: Tensor) -> NDArray[np.float64]:
    """Give a tensor's numbers in float64, once for all reductions, in the order of its dimensions."""
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def spread(values: NDArray[np.float64], there: NDArray[np.bool_], together: bool) -> NDArray[np.float64]:
    """Give rows for all images of a batch, and columns too where images are compared; NaN where there is nothing."""
    shape = (len(there), len(there)) if together else (len(there), *values.shape[1:])
    whole = np.full(shape, np.nan)
    whole[np.ix_(there, there) if together else there] = values
    return whole


def reduced(
    motion: BlockInMotion, solution: Solution, times: int, reductions: Sequence[Reduction], taken: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """Reduce a batch's maps at each of its first recorded times.

    Parameters
    ----------
    motion : BlockInMotion
    solution : Solution
        Of the images that were taken.
    times : int
        How many of the solution's times are recorded.
    reductions : sequence of Reduction
    taken : bool array [image]
        Which images of the batch the solution has.

    Returns
    -------
    dict of str to float64 array [image, time, ...]
        NaN where an image has no numbers.
    """
    columns: dict[str, list[NDArray[np.float64]]] = {reduction.name: [] for reduction in reductions}
    clock = solution.times if solution.times.ndim == 2 else solution.times.expand(solution.path.shape[:2])
    for time in range(min(times, solution.path.shape[1])):
        h = solution.path[:, time]
        finite = torch.isfinite(h).flatten(1).all(1)
        there = taken.copy()
        there[taken] = finite.cpu().numpy()
        # untouched where all are there: the readout of h(T) then has the bits of the logits
        rows = slice(None) if bool(finite.all()) else finite
        intact = None if motion.intact is None else motion.intact[:, time][rows]
        moment = Moment(motion, h[rows], clock[:, time][rows if isinstance(rows, slice) else rows.cpu()], intact)
        for reduction in reductions:
            values = reduction.function(moment.take(reduction.maps)) if there.any() else None
            columns[reduction.name].append(
                nothing(motion, reduction, len(taken)) if values is None else spread(values, there, reduction.together)
            )
    return {name: padded(np.stack(column, axis=1), times) for name, column in columns.items()}


def nothing(motion: BlockInMotion, reduction: Reduction, n: int) -> NDArray[np.float64]:
    """Give what a batch has at a time at which none of its images has numbers."""
    sizes = {"channel": motion.part.shape[0], "class": motion.net.spec.classes, "other_stimulus": n}
    return np.full((n, *(sizes[dim] for dim in reduction.dims)), np.nan)


def padded(values: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """Fill the times up that no image of the batch has."""
    missing = times - values.shape[1]
    widths = [(0, 0), (0, missing)] + [(0, 0)] * (values.ndim - 2)
    return np.pad(values, widths, constant_values=np.nan) if missing else values
