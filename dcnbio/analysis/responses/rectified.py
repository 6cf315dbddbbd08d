"""The response of a unit: what its signal is above the blank's, never below zero."""

from __future__ import annotations

import xarray as xr

from dcnbio.errors import InputError

__all__ = ["excess", "response"]

SIGNALS = ("z", "h_change")


def excess(recording: xr.Dataset, signal: str = "z") -> xr.DataArray:
    """Give the signal minus the blank's, signed.

    Parameters
    ----------
    recording : xarray.Dataset
        From `dcnbio.probe.responses.record_units`.
    signal : str
        "z", activation(norm(h)) as the next layer reads it, or "h_change", h(t) - h(0).

    Returns
    -------
    xarray.DataArray
        (stimulus, time, unit), or with the dimensions the recording has.

    Raises
    ------
    InputError
        If there is no such signal.

    Examples
    --------
    >>> one = xr.Dataset({"z": ("stimulus", [0.5, -0.2]), "z_blank": 0.1})
    >>> excess(one).values.round(2).tolist()
    [0.4, -0.3]
    """
    if signal not in SIGNALS:
        raise InputError(f"signal is {signal!r}; units have {' and '.join(SIGNALS)}.")
    found: xr.DataArray = recording[signal] - recording[f"{signal}_blank"]
    return found.assign_attrs(long_name=f"{signal} minus the blank's", units="1")


def response(recording: xr.Dataset, signal: str = "z") -> xr.DataArray:
    """Give r = max(0, signal - blank's).

    Parameters
    ----------
    recording : xarray.Dataset
        From `dcnbio.probe.responses.record_units`.
    signal : str
        "z", what the next layer reads, or "h_change", h(t) - h(0).

    Returns
    -------
    xarray.DataArray
        With the dimensions of the signal; no unit (1).

    Examples
    --------
    >>> one = xr.Dataset({"z": ("stimulus", [0.5, -0.2]), "z_blank": 0.1})
    >>> response(one).values.round(2).tolist()
    [0.4, 0.0]
    """
    return excess(recording, signal).clip(min=0).assign_attrs(long_name="response", units="1")
