"""Names, units and coordinates of recorded units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.model.network import Network
from dcnbio.probe.responses.unit_position import UnitPosition

__all__ = ["labelled", "unit_coordinates"]


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
