"""Records the central unit of every channel over time, for a set of stimuli and for the blank they are drawn on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm.std import tqdm

from dcnbio.errors import InputError, SolverError
from dcnbio.images.number_checks import count
from dcnbio.model.apart import one_by_one
from dcnbio.model.device import double
from dcnbio.model.interventions.norm_statistics import FixedNorm, group_moments
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.vector_field import ConvField
from dcnbio.probe.responses.blank_solve import BLANK, BlankTolerance, solve_blank
from dcnbio.probe.responses.exactness import TOLERANCE, doubled, tightened, without_contrast
from dcnbio.probe.responses.unit_labels import labelled
from dcnbio.probe.responses.unit_position import UnitPosition, unit_position

__all__ = ["UnitSettings", "reading_norm", "record_units"]


@dataclass(frozen=True)
class UnitSettings:
    """What is recorded, and how.

    Attributes
    ----------
    blocks : tuple of int
        From 1, each once and in rising order whatever is given. Blocks after the last of them are not run.
    times : int
        Solver times from 0 to each block's T.
    batch_size : int
    luminance : float
        Of the blank.
    progress : str
        Name of the progress bar; empty for none.
    tolerance : float or None
        At least as exactly is solved, in rtol and atol; images without contrast more exactly, in float64. None: with
        the network's own solver, whatever the stimulus.

    Raises
    ------
    InputError
        If a number is not allowed.
    """

    blocks: tuple[int, ...] = (1,)
    times: int = 11
    batch_size: int = 24
    luminance: float = 0.5
    progress: str = ""
    tolerance: float | None = TOLERANCE

    def __post_init__(self) -> None:
        if not self.blocks:
            raise InputError("blocks is empty; give at least one block to record from, for instance (1,).")
        for block in self.blocks:
            count("block", block, 1)
        for name in ("times", "batch_size"):
            count(name, getattr(self, name), 0)
        if self.times < 2 or self.batch_size < 1:
            raise InputError(
                f"times is {self.times} and batch_size {self.batch_size}; record 2 or more times, 1 or more images."
            )
        if self.tolerance is not None and not 0 < self.tolerance < 1:
            raise InputError(
                f"tolerance is {self.tolerance!r}; give a number between 0 and 1, for instance 1e-6, or None for the "
                "network's own solver."
            )
        # units are recorded block after block, so that is their order
        object.__setattr__(self, "blocks", tuple(sorted(set(self.blocks))))


def reading_norm(net: Network, block: int) -> nn.Module:
    """Give the norm through which the next layer, or the readout, reads a block."""
    norm: nn.Module = net.transitions[block - 1].norm if block <= len(net.transitions) else net.readout.norm  # type: ignore[assignment]
    return norm


def unit_signal(net: Network, place: UnitPosition, times: Tensor, path: Tensor) -> Tensor:
    """Give z = activation(norm(h)) of the unit of each channel, (n, t, c), of the path (n, t, c, y, x)."""
    norm = reading_norm(net, place.block)
    return torch.stack([read_unit(net, norm, place, (path[:, i], t)) for i, t in enumerate(times.tolist())], 1)


def read_unit(net: Network, norm: nn.Module, place: UnitPosition, at: tuple[Tensor, float]) -> Tensor:
    """Read the unit of each channel, (n, c), from maps (n, c, y, x) at a time, without normalising the whole map."""
    maps, time = at
    here = maps[..., place.rows, place.columns]
    if isinstance(norm, FixedNorm):
        read = norm.at(here, time)
    elif isinstance(norm, nn.GroupNorm):
        mean, variance = group_moments(norm, maps)
        scale = norm.weight / torch.sqrt(variance + norm.eps)
        read = (here - mean[..., None, None]) * scale[..., None, None] + norm.bias[:, None, None]
    else:
        read = norm(maps)[..., place.rows, place.columns]
    return net.activation(read).mean((-2, -1))


@dataclass(frozen=True)
class Recorder:
    """A network with the units that are recorded."""

    net: Network
    places: dict[int, UnitPosition]
    times: int
    solver: SolverSettings
    blank: BlankTolerance | None = None

    @classmethod
    def of(cls, net: Network, settings: UnitSettings) -> Recorder:
        """Choose solver and units."""
        fast = all(isinstance(getattr(block, "field", None), ConvField) for block in net.blocks)
        # other fields are evaluated image by image where every image has a time of its own
        solver = replace(
            tightened(net.solver, settings.tolerance),
            stepping="per-image" if fast or net.spec.depth == "residual" else "shared",
        )
        return cls(net, {block: unit_position(net, block) for block in settings.blocks}, settings.times, solver)

    def of_blanks(self, settings: UnitSettings, tolerance: BlankTolerance = BLANK) -> Recorder:
        """Give the recorder of images without contrast; its tolerance is that given where it is in float64."""
        if settings.tolerance is None or self.net.spec.depth == "residual":
            return self
        net = doubled(self.net)
        if next(net.readout.parameters()).dtype != torch.float64:
            return self
        return replace(self, net=net, solver=tightened(self.solver, tolerance.late), blank=tolerance)

    def solve(self, number: int, h: Tensor, wanted: int) -> Solution:
        """Solve a block from h(0), at that many times; maps without contrast meet the first block alone."""
        block = self.net.block(number)
        if self.blank is not None and number == 1 and isinstance(block, ODEBlock) and self.solver.method == "dopri5":
            return solve_blank(block, h, self.solver, wanted, self.blank)
        return block.run(h, self.solver, wanted)

    def signals(self, images: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Give z and h(t) - h(0) of all units, each (n, t, unit), and h(0) (n, unit)."""
        net, last = self.net, max(self.places)
        images = images.to(next(net.readout.parameters()))
        apart = self.solver.stepping == "per-image"
        h = one_by_one(net.stem, images, apart)
        z, change, start = [], [], []
        for number in range(1, last + 1):
            wanted = self.times if number in self.places and net.spec.depth == "ode" else 2
            solution = self.solve(number, h, wanted)
            if not solution.ok:
                raise SolverError(f"block {number} was not solved for every stimulus; dcnbio.probe says why.")
            if number in self.places:
                place = self.places[number]
                z.append(unit_signal(net, place, solution.times, solution.path))
                units = place.of(solution.path)
                change.append(units - units[:, :1])
                start.append(units[:, 0])
            if number < last:
                h = one_by_one(net.transitions[number - 1], solution.final, apart)
        joined = (torch.cat(z, 2), torch.cat(change, 2), torch.cat(start, 1))
        return double(joined[0]).cpu().numpy(), double(joined[1]).cpu().numpy(), double(joined[2]).cpu().numpy()


@torch.no_grad()
def record_units(net: Network, images: NDArray[np.float32], settings: UnitSettings | None = None) -> xr.Dataset:
    """Record z(t) and h(t) - h(0) of one unit per channel, and those of the blank.

    The response is r(t) = max(0, z(t) - z_blank(t)), with z = activation(norm(h)) as the next layer reads it. The
    stimulus is the initial state: a DCN has no drive after t = 0, so that there is no stimulus duration and no
    steady state.

    Parameters
    ----------
    net : Network
    images : array of float32 [n, 3, 32, 32]
        Stimuli in [0, 1].
    settings : UnitSettings, optional

    Returns
    -------
    xarray.Dataset
        ``z`` and ``h_change`` (stimulus, time, unit), ``h_start`` (stimulus, unit), ``z_blank`` and
        ``h_change_blank`` (time, unit), all in units of 1; coordinates ``block``, ``channel``, ``pixel_y``,
        ``pixel_x``, ``highest_frequency`` (unit), and ``time`` from 0 to 1, as a fraction of the block's T, which is
        ``integration_time`` (unit).

    Raises
    ------
    InputError
        If images have another shape, or a block does not exist.
    SolverError
        If a block could not be solved.

    Notes
    -----
    It misleads where the blank is taken for no stimulus: zero padding makes a border in it, which the norm of dh/dt
    brings to full speed, so that h drifts as fast in the blank as in a grating.

    The norms divide by contrast, and so they multiply what the solver gets wrong. To a network's tolerance of 1e-3, z
    of the blank, of faint and of small stimuli is wrong by as much as a response, and depends on which images share a
    batch. Recordings are points of the solution, to the tolerance of `UnitSettings`, and those of the blank as
    `solve_blank` says; what is left of its error is given by `blank_error`.

    Examples
    --------
    >>> from dcnbio.images import Grating, battery
    >>> from dcnbio.model.network import build
    >>> stimuli = battery(Grating(contrast=0.9), {"phase": [0, 180]})
    >>> found = record_units(build("dcn-ode", widths=(8,), norm_groups=8), stimuli.image.values)
    >>> dict(found.sizes)
    {'stimulus': 2, 'time': 11, 'unit': 8}
    """
    settings = settings or UnitSettings()
    if images.ndim != 4 or images.shape[1] != 3 or not np.issubdtype(images.dtype, np.floating):
        raise InputError(f"images is {images.dtype} of shape {images.shape}; give float32 [n, 3, y, x] in [0, 1].")
    recorder = Recorder.of(net, settings)
    blank = np.full((1, *images.shape[1:]), settings.luminance, dtype=images.dtype)
    with tqdm(total=len(images), desc=settings.progress, unit=" stimuli", disable=not settings.progress) as bar:
        z, change, start_state = signals_of(recorder, np.concatenate([blank, images]), settings, bar)
    found = labelled(net, recorder.places, z, change)
    found["h_start"] = (("stimulus", "unit"), start_state[1:], {"long_name": "h(0) of the unit", "units": "1"})
    return found


def signals_of(
    recorder: Recorder, images: NDArray[np.floating], settings: UnitSettings, bar: tqdm[None]
) -> list[NDArray[np.float64]]:
    """Record images batch by batch, those without contrast apart; the first is the blank, which the bar leaves out."""
    blanks = without_contrast(images)
    order, parts = [], []
    for one, rows in ((recorder.of_blanks(settings), np.flatnonzero(blanks)), (recorder, np.flatnonzero(~blanks))):
        for start in range(0, len(rows), settings.batch_size):
            some = rows[start : start + settings.batch_size]
            parts.append(one.signals(torch.from_numpy(images[some])))
            order.append(some)
            bar.update(int((some > 0).sum()))
    back = np.argsort(np.concatenate(order))
    return [np.concatenate(column)[back] for column in zip(*parts, strict=True)]
