"""Fills the columns of a table of units, one unit at a time; what a unit does not have stays NaN and is flagged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.definitions import definition_of
from dcnbio.analysis.responses.measure_names import CENSORED, MEASURES

__all__ = ["Columns", "labelled", "tabulate"]

Columns = dict[str, np.ndarray]
Row = Mapping[str, float | bool]


def tabulate(units: int, names: tuple[str, ...], one: Callable[[int], Row | None]) -> Columns:
    """Measure every unit.

    Parameters
    ----------
    units : int
    names : tuple of str
        Measures that are filled, with the flags ``censored_<name>`` of those that can be censored.
    one : callable
        Gives the row of a unit, or None where it has none.

    Returns
    -------
    dict of str to array [unit]

    Examples
    --------
    >>> found = tabulate(2, ("peak_time",), lambda i: {"peak_time": 1.0, "censored_peak_time": True} if i else None)
    >>> found["peak_time"].tolist(), found["censored_peak_time"].tolist()
    ([nan, 1.0], [False, True])
    """
    columns: Columns = {name: np.full(units, np.nan) for name in names}
    columns |= {f"censored_{name}": np.zeros(units, dtype=bool) for name in names if name in CENSORED}
    for i in range(units):
        for name, value in (one(i) or {}).items():
            columns[name][i] = value
    return columns


def labelled(columns: Columns, coordinates: Mapping[str, xr.DataArray]) -> xr.Dataset:
    """Make a Dataset of columns, with the flag ``undefined_<name>`` of every measure that some unit lacks.

    Parameters
    ----------
    columns : mapping of str to array, shape (unit,)
        Measures and flags by name.
    coordinates : mapping of str to xarray.DataArray
        Along ``unit``.

    Returns
    -------
    xarray.Dataset
        Along ``unit``, every variable with long_name and units.
    """
    data = xr.Dataset(coords=dict(coordinates))
    for name, values in columns.items():
        if name in MEASURES:
            long_name, units, when = MEASURES[name]
            about = {"long_name": long_name, "units": units}
            if definition_of(name):
                about["definition"] = definition_of(name)
            missing = np.isnan(values)
            if missing.any():
                about["undefined_when"] = when
                flag = {"long_name": f"{name} does not exist: {when}", "units": "1"}
                data[f"undefined_{name}"] = ("unit", missing, flag)
            data[name] = ("unit", values, about)
        elif name.startswith("censored_"):
            when = CENSORED[name.removeprefix("censored_")]
            data[name] = ("unit", values, {"long_name": f"a limit alone: {when}", "units": "1"})
        else:
            data[name] = ("unit", values, {"long_name": name.replace("_", " "), "units": "1"})
    return data
