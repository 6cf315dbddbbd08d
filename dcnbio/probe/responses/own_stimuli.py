"""Shows units their own preferred gratings, at several sizes and contrasts, centred on their measured fields."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images import Canvas, Grating, render
from dcnbio.model.network import Network
from dcnbio.probe.responses.units import UnitSettings, record_units

__all__ = ["OwnGratings", "record_own"]


@dataclass(frozen=True)
class OwnGratings:
    """The gratings of units.

    Attributes
    ----------
    orientation, spatial_frequency, phase : array [unit]
        Degrees, cycles/pixel, degrees at the middle of the image; NaN for units that prefer none, which are shown
        vertical bars of 0.125 cycles/pixel.
    centre_y, centre_x : array [unit]
        Middle of the measured field in pixels.
    block, channel : array [unit], optional
        Whose they are; if left out, those of all channels of the blocks recorded, in their order.

    Examples
    --------
    >>> one = OwnGratings(*(np.array([value]) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))
    >>> one.grating(0, 0.5, 8.0).phase
    45.0
    """

    orientation: NDArray[np.float64]
    spatial_frequency: NDArray[np.float64]
    phase: NDArray[np.float64]
    centre_y: NDArray[np.float64]
    centre_x: NDArray[np.float64]
    block: NDArray[np.integer[Any]] | None = None
    channel: NDArray[np.integer[Any]] | None = None

    def grating(self, unit: int, contrast: float, diameter: float, canvas: Canvas | None = None) -> Grating:
        """Give the grating of a unit, with the phase counted from its own centre."""
        canvas = canvas or Canvas()
        values = [float(v[unit]) for v in (self.orientation, self.spatial_frequency, self.phase)]
        theta, frequency, phase = values if all(map(math.isfinite, values)) else (90.0, 0.125, 0.0)
        y, x = float(self.centre_y[unit]), float(self.centre_x[unit])
        turn = math.radians(theta)
        middle_y, middle_x = canvas.centre
        phase += 360 * frequency * ((x - middle_x) * math.sin(turn) + (y - middle_y) * math.cos(turn))
        return Grating(theta, frequency, phase % 360, contrast, diameter, 0.0, y, x)

    def units(self, net: Network, blocks: Sequence[int]) -> dict[int, tuple[list[int], list[int]]]:
        """Give, of every block, which gratings are its units' and which channels they belong to.

        Raises
        ------
        InputError
            If there are more or fewer gratings than channels where these are not named.
        """
        block, channel = self.block, self.channel
        if block is None or channel is None:
            widths = [net.spec.widths[number - 1] for number in blocks]
            if len(self.orientation) != sum(widths):
                raise InputError(
                    f"own has {len(self.orientation)} gratings for {sum(widths)} units; give one for each, or say "
                    f"by block and channel whose they are."
                )
            block = np.repeat(list(blocks), widths)
            channel = np.concatenate([np.arange(width) for width in widths])
        whose = {number: np.flatnonzero(block == number).tolist() for number in blocks}
        return {number: (rows, channel[rows].tolist()) for number, rows in whose.items() if rows}


def record_own(
    net: Network,
    own: OwnGratings,
    conditions: Mapping[str, Sequence[float]],
    settings: UnitSettings,
) -> xr.Dataset:
    """Record units' responses to their own gratings.

    Parameters
    ----------
    net : Network
    own : OwnGratings
        Of units of the blocks recorded, in their order.
    conditions : mapping
        "contrast" and "diameter" with their values; all combinations are shown. An infinite diameter is the whole
        image.
    settings : UnitSettings

    Returns
    -------
    xarray.Dataset
        ``z``, ``h_change`` (contrast, diameter, time, unit) and the blank's (time, unit); coordinates as from
        `record_units`.

    Raises
    ------
    InputError
        If a condition is missing, or the units are more or fewer than the blocks have.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(2,), norm_groups=2, integration_time=0.1)
    >>> own = OwnGratings(*(np.full(2, value) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))
    >>> found = record_own(net, own, {"contrast": [0.5], "diameter": [4.0, 8.0]}, UnitSettings(times=2))
    >>> dict(found["z"].sizes)
    {'contrast': 1, 'diameter': 2, 'time': 2, 'unit': 2}
    """
    if set(conditions) != {"contrast", "diameter"}:
        raise InputError(f"conditions are {sorted(conditions)}; give contrast and diameter, each with its values.")
    combinations = list(itertools.product(*conditions.values()))
    names = list(conditions)
    parts = []
    for block, (rows, channels) in own.units(net, settings.blocks).items():
        shown = [
            render(own.grating(row, chosen[names.index("contrast")], chosen[names.index("diameter")]))
            for chosen in combinations
            for row in rows
        ]
        recorded = record_units(net, np.stack(shown), replace(settings, blocks=(block,)))
        parts.append(own_units(recorded, len(combinations), channels))
    joined = xr.concat(parts, "unit") if len(parts) > 1 else parts[0]
    sizes = [len(values) for values in conditions.values()]
    index = xr.Coordinates(
        {name: ("condition", np.array([c[i] for c in combinations], dtype=np.float64)) for i, name in enumerate(names)}
    )
    found = joined.assign_coords(index).set_index(condition=names).unstack("condition")
    grid = {name: list(values) for name, values in conditions.items()}
    ordered: xr.Dataset = found.sel(grid).transpose(*names, "time", "unit", missing_dims="ignore")
    if [ordered.sizes[name] for name in names] != sizes:
        raise InputError(f"conditions repeat a value: {dict(conditions)}; give each once.")
    return ordered


def own_units(recorded: xr.Dataset, conditions: int, channels: list[int]) -> xr.Dataset:
    """Keep of every stimulus the unit whose it is."""
    kept = recorded.isel(unit=channels)
    variables: dict[str, tuple[tuple[str, ...], NDArray[np.float64], dict[str, str]]] = {}
    order = np.arange(len(channels))
    for name in ("z", "h_change"):
        values = kept[name].values.reshape(conditions, len(channels), kept.sizes["time"], len(channels))
        mine = values[:, order, :, order]  # (unit, condition, time)
        variables[name] = (("condition", "time", "unit"), mine.transpose(1, 2, 0), kept[name].attrs)
    for name in ("z_blank", "h_change_blank"):
        variables[name] = (("time", "unit"), kept[name].values, kept[name].attrs)
    return xr.Dataset(variables, kept.coords)
