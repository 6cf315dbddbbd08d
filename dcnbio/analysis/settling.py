"""When a flow comes to rest: the time from which on its slope dh/dt stays small, read off a trajectory afterwards."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.errors import InputError

__all__ = ["settling_time"]

SETTLED, MOVING, UNKNOWN = 0, 1, 2


def settling_time(slope: xr.DataArray, share: float = 0.01) -> xr.Dataset:
    """Give the first recorded time from which on the slope stays within a share of its value at t = 0.

    The smallest t with ``|dh/dt|(t') <= share * |dh/dt|(0)`` for every recorded t' >= t. It is found on the recorded
    times, so it is late by up to one of their intervals, and a solve need not stop for it.

    Parameters
    ----------
    slope : xarray.DataArray
        The size of dh/dt with a dimension ``time`` and its coordinate [solver time], as the reduction ``slope_norm`` of
        a recording; further dimensions, such as stimulus, are kept.
    share : float
        Of the slope at the first time, between 0 and 1.

    Returns
    -------
    xarray.Dataset
        ``settling_time`` [solver time], NaN where there is none; and ``settling`` says why: 0 settled, 1 still moving
        at the last time, 2 unknown, as the solve ended early.

    Raises
    ------
    InputError
        If there is no time, fewer than two of them, or the share is not between 0 and 1.

    Notes
    -----
    A field that ends in a group norm, as a DCN's, moves at a fixed speed and never settles; a field of one's own may.
    Coming to rest for a while before T is not known to be for good: record a longer T.

    Examples
    --------
    A decay h' = -h has a slope of e^-t, which is 1 % at t = ln 100 = 4.605.

    >>> time = np.linspace(0, 6, 61)
    >>> slope = xr.DataArray(np.exp(-time)[None], dims=("stimulus", "time"), coords={"time": time})
    >>> float(settling_time(slope)["settling_time"][0])
    4.7
    """
    if "time" not in slope.dims or "time" not in slope.coords or slope.sizes["time"] < 2:
        raise InputError(
            f"slope has the dimensions {', '.join(map(str, slope.dims)) or 'none'}; give it with two or more times in "
            "time, as dcnbio.probe(..., reductions='slope_norm') does."
        )
    if not 0 < share < 1:
        raise InputError(
            f"share is {share}; it is a part of the slope at the start, above 0 and below 1, such as 0.01."
        )
    values = slope.transpose(..., "time").values
    time = slope["time"].values
    small = values <= share * values[..., :1]
    # from the end backwards: small here and at every later time
    stays = np.logical_and.accumulate(small[..., ::-1], axis=-1)[..., ::-1]
    known = np.isfinite(values).all(axis=-1)
    settled = known & stays[..., -1]
    state = np.where(known, np.where(settled, SETTLED, MOVING), UNKNOWN).astype(np.int8)
    found = np.where(settled, time[stays.argmax(axis=-1)], np.nan)
    rest = slope.isel(time=0, drop=True)
    return xr.Dataset(
        {
            "settling_time": rest.copy(data=found).assign_attrs(
                long_name=f"first time from which on |dh/dt| stays within {share:g} of its start", units="solver time"
            ),
            "settling": rest.copy(data=state).assign_attrs(
                long_name="whether and why there is a settling time",
                units="1",
                flag_values=[SETTLED, MOVING, UNKNOWN],
                flag_meanings="settled still_moving_at_the_last_time solve_ended_early",
            ),
        }
    )
