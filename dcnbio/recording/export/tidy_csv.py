"""A variable as a tidy table: one value a row, with the coordinates it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

__all__ = ["table_header", "write_csv"]


def table_header(array: xr.DataArray) -> list[str]:
    """Give the columns: dimensions, every other coordinate that lies along some of them, the variable.

    A dimension without values of its own is counted from 0, in a column named after it and ``_index``.

    Examples
    --------
    >>> array = xr.DataArray(np.zeros((1, 2)), dims=("stimulus", "time"), name="h")
    >>> table_header(array.assign_coords(stimulus=[4], recorded_time=(array.dims, [[0.0, 0.1]])))
    ['stimulus', 'time_index', 'recorded_time', 'h']
    """
    return [
        *(str(dim) if has_values(array, dim) else f"{dim}_index" for dim in array.dims),
        *known(array),
        str(array.name),
    ]


def has_values(array: xr.DataArray, dim: Hashable) -> bool:
    """Whether a dimension has a coordinate, other than the variable itself."""
    return dim in array.coords and dim != array.name


def known(array: xr.DataArray) -> list[str]:
    """Name the coordinates beside those of the dimensions: label, file, the time of an accepted step."""
    others = {str(name): one for name, one in array.coords.items() if name not in (*array.dims, array.name)}
    return [name for name, one in others.items() if set(one.dims) <= set(array.dims)]


def write_csv(array: xr.DataArray, path: Path) -> None:
    """Write the table, image by image; memory is that of one image's rows. A value that is missing is "NaN".

    Floats are written with the digits that give the same number back.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     array = xr.DataArray(np.eye(2), {"stimulus": [4, 9]}, ("stimulus", "step"), name="step_time")
    ...     write_csv(array, Path(folder, "a.csv"))
    ...     Path(folder, "a.csv").read_text().split()
    ['stimulus,step_index,step_time', '4,0,1.0', '4,1,0.0', '9,0,0.0', '9,1,1.0']
    """
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table_header(array))
        if not array.dims:
            writer.writerows(rows_of(array, 0))
        for position in range(array.shape[0] if array.dims else 0):
            writer.writerows(rows_of(array.isel({array.dims[0]: slice(position, position + 1)}), position))


def rows_of(one: xr.DataArray, first: int) -> Iterator[list[Any]]:
    """Give the rows of one stimulus, which is the `first` along its dimension."""
    columns = []
    for axis, (dim, size) in enumerate(one.sizes.items()):
        counted = xr.DataArray(np.arange(size) + (0 if axis else first), dims=(dim,))
        columns.append(one[dim] if has_values(one, dim) else counted)
    columns += [one.coords[name] for name in known(one)]
    spread = [column.broadcast_like(one).transpose(*one.dims).values.ravel() for column in columns]
    for row in zip(*spread, one.values.ravel(), strict=True):
        yield [written(value) for value in row]


def written(value: Any) -> Any:
    """Write a missing value as programs for tables read it."""
    return "NaN" if isinstance(value, float | np.floating) and np.isnan(value) else value
