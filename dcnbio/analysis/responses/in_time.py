"""Size tuning and contrast response of units at several times: the same measures as at T, with the same flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline

from dcnbio.analysis.responses.contrast_measures import contrast_fits
from dcnbio.analysis.responses.measure_names import CENSORED, MEASURES
from dcnbio.analysis.responses.size_measures import suppression_measures
from dcnbio.analysis.responses.unit_table import Columns
from dcnbio.analysis.shapes import Floats

__all__ = ["contrast_in_time", "size_in_time", "stacked_in_time"]

SIZES = ("summation_diameter", "surround_diameter", "suppression_index")
FITS = ("r_max", "c50", "exponent", "r_squared")


def stacked_in_time(every: Sequence[Columns], names: Sequence[str], time: xr.DataArray) -> xr.Dataset:
    """Stack the columns of several times.

    Parameters
    ----------
    every : sequence of dict of str to array [unit]
        By time.
    names : sequence of str
        Of the measures that are kept, with their flags.
    time : xarray.DataArray [time]
        Over T.

    Returns
    -------
    xarray.Dataset
        ``<name>_in_time`` (time, unit), NaN where the measure does not exist at a time, and
        ``censored_<name>_in_time``, whether it is a limit.
    """
    found, dims = xr.Dataset(coords={"time": time}), ("time", "unit")
    for name in names:
        long_name, units, when = MEASURES[name]
        about = {"long_name": f"{long_name}, over time", "units": units, "undefined_when": f"at that time {when}"}
        found[f"{name}_in_time"] = (dims, np.stack([columns[name] for columns in every]), about)
        flag = f"censored_{name}"
        if flag in every[0]:
            flagged = {"long_name": f"a limit alone at that time: {CENSORED[name]}", "units": "1"}
            found[f"{flag}_in_time"] = (dims, np.stack([columns[flag] for columns in every]), flagged)
    return found


def at_times(recording: xr.Dataset, shares: Floats) -> xr.Dataset:
    """Read a recording at other times than those recorded, between which a cubic spline is taken.

    Examples
    --------
    >>> one = xr.Dataset({"z": ("time", [0.0, 0.25, 1.0])}, {"time": [0.0, 0.5, 1.0]})
    >>> at_times(one, np.array([0.25, 0.5])).z.values.round(4).tolist()
    [0.0625, 0.25]
    """
    time, variables = recording["time"].values, {}
    for name, values in recording.data_vars.items():
        read = values.values
        if "time" in values.dims:
            read = CubicSpline(time, read, axis=values.get_axis_num("time"))(shares)
        variables[str(name)] = (values.dims, read, values.attrs)
    others = {name: values for name, values in recording.coords.items() if "time" not in values.dims}
    return xr.Dataset(variables, {**others, "time": shares})


def size_in_time(recording: xr.Dataset, signal: str, time: xr.DataArray) -> xr.Dataset:
    """Measure size tuning at the highest contrast at several times.

    Parameters
    ----------
    recording : xarray.Dataset
        As for `size_measures`.
    signal : str
    time : xarray.DataArray [time]
        Over T.

    Returns
    -------
    xarray.Dataset
        See `stacked_in_time`.
    """
    read, high = at_times(recording, time.values), float(recording["contrast"].max())
    every = [suppression_measures(read.isel(time=[i]), high, signal) for i in range(time.size)]
    return stacked_in_time(every, SIZES, time)


def contrast_in_time(recording: xr.Dataset, signal: str, time: xr.DataArray) -> xr.Dataset:
    """Fit Naka and Rushton's function to the contrast response at several times.

    Parameters
    ----------
    recording : xarray.Dataset
        As for `contrast_measures`.
    signal : str
    time : xarray.DataArray [time]
        Over T.

    Returns
    -------
    xarray.Dataset
        See `stacked_in_time`.
    """
    read = at_times(recording, time.values)
    every = [contrast_fits(read.isel(time=[i]), signal) for i in range(time.size)]
    return stacked_in_time(every, FITS, time)
