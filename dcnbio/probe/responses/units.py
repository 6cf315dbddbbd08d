"""Records the central unit of every channel over time, for a set of stimuli and for the blank they are drawn on."""

from __future__ import annotations

from collections.abc import Sequence
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
from dcnbio.model.interventions.norm_statistics import FixedNorm, group_moments
from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.vector_field import ConvField
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

    @classmethod
    def of(cls, net: Network, settings: UnitSettings) -> Recorder:
        """Choose solver and units."""
        fast = all(isinstance(getattr(block, "field", None), ConvField) for block in net.blocks)
        # other fields are evaluated image by image where every image has a time of its own
        solver = replace(net.solver, stepping="per-image" if fast or net.spec.depth == "residual" else "shared")
        return cls(net, {block: unit_position(net, block) for block in settings.blocks}, settings.times, solver)

    def signals(self, images: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Give z and h(t) - h(0) of all units, each (n, t, unit), and h(0) (n, unit)."""
        net, last = self.net, max(self.places)
        apart = self.solver.stepping == "per-image"
        h = one_by_one(net.stem, images, apart)
        z, change, start = [], [], []
        for number in range(1, last + 1):
            wanted = self.times if number in self.places and net.spec.depth == "ode" else 2
            solution = net.block(number).run(h, self.solver, wanted)
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
        return joined[0].double().cpu().numpy(), joined[1].double().cpu().numpy(), joined[2].double().cpu().numpy()


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
    weight = next(net.readout.parameters())
    recorder = Recorder.of(net, settings)
    blank = torch.full((1, *images.shape[1:]), settings.luminance, dtype=weight.dtype, device=weight.device)
    parts = [recorder.signals(blank)]
    with tqdm(total=len(images), desc=settings.progress, unit=" stimuli", disable=not settings.progress) as bar:
        for start in range(0, len(images), settings.batch_size):
            batch = torch.from_numpy(images[start : start + settings.batch_size]).to(weight)
            parts.append(recorder.signals(batch))
            bar.update(len(batch))
    z, change, start_state = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = labelled(net, recorder.places, z, change)
    found["h_start"] = (("stimulus", "unit"), start_state[1:], {"long_name": "h(0) of the unit", "units": "1"})
    return found


def labelled(
    net: Network, places: dict[int, UnitPosition], z: NDArray[np.float64], change: NDArray[np.float64]
) -> xr.Dataset:
    """Give the arrays, whose first row is the blank's, their names."""
    dims = ("stimulus", "time", "unit")
    read, moved = "z, activation(norm(h)) of the unit", "h(t) - h(0) of the unit"
    variables = {
        "z": (dims, z[1:], {"long_name": read, "units": "1"}),
        "h_change": (dims, change[1:], {"long_name": moved, "units": "1"}),
        "z_blank": (dims[1:], z[0], {"long_name": f"{read}, blank", "units": "1"}),
        "h_change_blank": (dims[1:], change[0], {"long_name": f"{moved}, blank", "units": "1"}),
    }
    times = np.linspace(0, 1, z.shape[1])
    coordinates = {**unit_coordinates(net, list(places.values())), "time": ("time", times, TIME)}
    return xr.Dataset(variables, coordinates)


TIME = {"long_name": "solver time over the block's T", "units": "1"}


def unit_coordinates(
    net: Network, places: Sequence[UnitPosition]
) -> dict[str, tuple[str, NDArray[np.generic], dict[str, str]]]:
    """Say of every unit where it is."""
    widths = [net.spec.widths[place.block - 1] for place in places]

    def repeated(values: list[float], name: str, units: str) -> tuple[str, NDArray[np.generic], dict[str, str]]:
        return "unit", np.repeat(values, widths), {"long_name": name, "units": units}

    ends = [float(net.block(place.block).integration_time) for place in places]
    channels = np.concatenate([np.arange(width) for width in widths])
    return {
        "block": ("unit", np.repeat([place.block for place in places], widths), {"long_name": "block", "units": "1"}),
        "channel": ("unit", channels, {"long_name": "channel", "units": "1"}),
        "pixel_y": repeated([p.pixel[0] for p in places], "row the unit looks at", "pixels"),
        "pixel_x": repeated([p.pixel[1] for p in places], "column the unit looks at", "pixels"),
        "highest_frequency": repeated([p.highest_frequency for p in places], "Nyquist of the maps", "cycles/pixel"),
        "integration_time": repeated(ends, "T of the block", "solver time"),
    }
