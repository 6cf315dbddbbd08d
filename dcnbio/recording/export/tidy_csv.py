"""A variable as a tidy table: one value a row, with the coordinates it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

__all__ = ["table_header", "write_csv"]


def table_header(array: xr.DataArray) -> list[str]:
    """Give the columns: dimensions, what is known of each stimulus, the variable.

    Examples
    --------
    >>> table_header(xr.DataArray(np.zeros((1, 2)), dims=("stimulus", "time"), name="h"))
    ['stimulus', 'time', 'h']
    """
    return [*map(str, array.dims), *of_stimulus(array), str(array.name)]


def of_stimulus(array: xr.DataArray) -> list[str]:
    """Name the coordinates that belong to a stimulus: label, file, batch."""
    return [str(name) for name, one in array.coords.items() if one.dims == ("stimulus",) and name != "stimulus"]


def write_csv(array: xr.DataArray, path: Path) -> None:
    """Write the table, image by image; memory is that of one image's rows. A value that is missing is "NaN".

    Floats are written with the digits that give the same number back.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(xr.DataArray(np.eye(2), dims=("stimulus", "time"), name="h"), Path(folder, "a.csv"))
    ...     Path(folder, "a.csv").read_text().split()
    ['stimulus,time,h', '0,0,1.0', '0,1,0.0', '1,0,0.0', '1,1,1.0']
    """
    counted = {dim: np.arange(size) for dim, size in array.sizes.items() if dim not in array.coords}
    array = array.assign_coords(counted)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table_header(array))
        for position in range(array.shape[0]):
            writer.writerows(rows_of(array.isel({array.dims[0]: slice(position, position + 1)})))


def rows_of(one: xr.DataArray) -> Iterator[list[Any]]:
    """Give the rows of one stimulus."""
    axes = [one[dim].values for dim in one.dims]
    known = [one.coords[name].values[0] for name in of_stimulus(one)]
    for place, value in np.ndenumerate(one.values):
        yield [*(axis[i] for axis, i in zip(axes, place, strict=True)), *known, written(value)]


def written(value: Any) -> Any:
    """Write a missing value as programs for tables read it."""
    return "NaN" if isinstance(value, float | np.floating) and np.isnan(value) else value
