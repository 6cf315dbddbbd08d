"""All measures of a network's units in one table, from what was recorded of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.contrast_measures import contrast_measures, frozen_contrast_measures
from dcnbio.analysis.responses.field_measures import field_measures, noise_field_measures
from dcnbio.analysis.responses.in_time import contrast_in_time, size_in_time
from dcnbio.analysis.responses.interaction_measures import interaction_measures
from dcnbio.analysis.responses.rectified import response
from dcnbio.analysis.responses.size_measures import frozen_size_measures, size_measures
from dcnbio.analysis.responses.tuning_measures import tuning_in_time, tuning_measures
from dcnbio.analysis.responses.unit_table import Columns, labelled

__all__ = ["Recordings", "measure_units"]


@dataclass(frozen=True)
class Recordings:
    """What is recorded of the units of one network, all in the same order of units.

    Attributes
    ----------
    gratings : xarray.Dataset
        ``z``, ``h_change`` (orientation, spatial_frequency, phase, time, unit) and the blank's (time, unit).
    uniform : xarray.Dataset
        The same (stimulus, time, unit) of uniform images, brighter and darker than the blank.
    size, contrast : xarray.Dataset, optional
        The same (contrast, diameter, time, unit) and (contrast, time, unit), each unit at its own preferred grating.
    size_frozen, contrast_frozen : xarray.Dataset, optional
        The same with the norms' statistics frozen.
    interactions : xarray.Dataset, optional
        From `record_interactions`: plaids and surrounds.
    fields : xarray.Dataset, optional
        From `record_fields`.
    noise : xarray.Dataset, optional
        From `record_noise_fields`.
    eps_share : mapping of str to array [unit]
        From `dcnbio.probe.responses.eps_share`: of each unit's own grating at the lowest contrast, and the smallest;
        and ``blank_error``, from `dcnbio.probe.responses.blank_error`.
    """

    gratings: xr.Dataset
    uniform: xr.Dataset
    size: xr.Dataset | None = None
    contrast: xr.Dataset | None = None
    size_frozen: xr.Dataset | None = None
    contrast_frozen: xr.Dataset | None = None
    interactions: xr.Dataset | None = None
    fields: xr.Dataset | None = None
    noise: xr.Dataset | None = None
    eps_share: Mapping[str, np.ndarray] = field(default_factory=dict)


def leakage(uniform: xr.Dataset, columns: Columns, signal: str) -> np.ndarray:
    """Give the response to uniform steps of luminance over that to the best grating; NaN for silent units."""
    steps = response(uniform, signal).isel(time=-1).max("stimulus").values
    # F1 of a half-rectified sinusoid is half its peak, F0 a little less than a third
    peak = np.where(columns["simple"], 2, 1) * columns["maximum_response"]
    found: np.ndarray = np.divide(steps, peak, out=np.full(len(peak), np.nan), where=peak > 0)
    return found


def courses(recordings: Recordings, signal: str) -> Iterator[xr.Dataset]:
    """Give what was measured at several times, those of the gratings: tuning, size tuning, contrast response."""
    time = recordings.gratings["time"]
    yield tuning_in_time(recordings.gratings, signal)
    if recordings.size is not None:
        yield size_in_time(recordings.size, signal, time)
    if recordings.contrast is not None:
        yield contrast_in_time(recordings.contrast, signal, time)


def measure_units(recordings: Recordings, about: Mapping[str, Any] | None = None, signal: str = "z") -> xr.Dataset:
    """Measure every unit; failures are flagged, and no unit is left out.

    Parameters
    ----------
    recordings : Recordings
    about : mapping, optional
        Attributes: network, row, weights, trained (0 or 1), settings.
    signal : str
        "z", what the next layer reads, or "h_change", h(t) - h(0).

    Returns
    -------
    xarray.Dataset
        Along ``unit``, with coordinates ``block``, ``channel`` and ``highest_frequency`` (Nyquist's of the unit's map):
        measures in float, NaN where they do not exist, as ``undefined_<name>`` says and the attribute
        ``undefined_when`` explains; ``censored_<name>`` where they are limits; ``responsive``, ``simple`` and
        ``gabor_fitted``; ``<name>_in_time`` (time, unit) are tuning, size tuning and contrast response over time, with
        ``censored_<name>_in_time``.

    Notes
    -----
    32 channels of one network are few: their distribution can be told from another only where the two are far apart,
    and they are no sample of networks.
    """
    columns = tuning_measures(recordings.gratings, signal)
    columns["zero_frequency_leakage"] = leakage(recordings.uniform, columns, signal)
    if recordings.size is not None:
        columns |= size_measures(recordings.size, signal)
    if recordings.size_frozen is not None:
        columns |= frozen_size_measures(recordings.size_frozen, signal)
    if recordings.contrast is not None:
        columns |= contrast_measures(recordings.contrast, signal)
    if recordings.contrast_frozen is not None:
        columns |= frozen_contrast_measures(recordings.contrast_frozen, signal)
    if recordings.interactions is not None:
        columns |= interaction_measures(recordings.interactions, signal)
    if recordings.fields is not None:
        columns |= field_measures(recordings.fields)
        if recordings.noise is not None:
            columns |= noise_field_measures(recordings.noise, recordings.fields["local"].isel(time=-1).values)
    columns |= recordings.eps_share
    coordinates = {name: recordings.gratings[name] for name in ("block", "channel", "highest_frequency")}
    data = labelled(columns, coordinates)
    for part in courses(recordings, signal):
        for name, values in part.items():
            data[name] = values
    plain = {"network": "", "row": "", "weights": "", "trained": 0, "settings": {}, **(about or {}), "signal": signal}
    data.attrs = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in plain.items()}
    return data
