"""Tuning of units to gratings: orientation, spatial frequency and phase, from one battery."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.frequency_tuning import frequency_tuning
from dcnbio.analysis.responses.in_time import stacked_in_time
from dcnbio.analysis.responses.orientation_tuning import orientation_tuning
from dcnbio.analysis.responses.phase_modulation import phase_modulation
from dcnbio.analysis.responses.rectified import response
from dcnbio.analysis.responses.unit_table import Columns, tabulate
from dcnbio.errors import InputError

__all__ = ["RESPONSIVE_SHARE", "tuning_in_time", "tuning_measures"]

AXES = ("orientation", "spatial_frequency", "phase")
NAMES = (
    "preferred_orientation",
    "circular_variance",
    "orientation_selectivity_index",
    "orientation_half_width",
    "preferred_spatial_frequency",
    "spatial_frequency_bandwidth",
    "bandwidth_index",
    "best_orientation",
    "best_spatial_frequency",
    "best_phase",
    "f1_f0",
)
COURSES = (
    "preferred_orientation",
    "circular_variance",
    "orientation_selectivity_index",
    "orientation_half_width",
    "preferred_spatial_frequency",
    "spatial_frequency_bandwidth",
    "bandwidth_index",
    "f1_f0",
)
# of the median over the block's units of the largest modulation, below which a unit counts as unresponsive
RESPONSIVE_SHARE = 0.1


def tuning_measures(gratings: xr.Dataset, signal: str = "z", time: int = -1) -> Columns:
    """Measure the tuning of every unit at one time.

    Responses to a grating are first reduced over phase, to F1 or F0, whichever is larger at the unit's best grating.

    Parameters
    ----------
    gratings : xarray.Dataset
        From `record_units`, with the dimensions orientation, spatial_frequency and phase in place of stimulus.
    signal : str
        "z" or "h_change".
    time : int
        Index of the time; T by default.

    Returns
    -------
    dict of str to array [unit]
        The measures of `NAMES`, ``maximum_response``, ``responsive`` and ``simple``.

    Raises
    ------
    InputError
        If a dimension is missing.
    """
    missing = [name for name in AXES if name not in gratings.dims]
    if missing:
        raise InputError(f"gratings has no dimension {missing[0]}; unstack the battery's stimuli first.")
    r = response(gratings, signal).isel(time=time).transpose("unit", *AXES)
    modulation = phase_modulation(r.values)
    orientation, frequency = (r[name].values for name in AXES[:2])
    highest, block = gratings["highest_frequency"].values, gratings["block"].values
    used = frequency <= highest[:, None] * (1 + 1e-9)
    peaks = np.where(used[:, None, :], modulation.modulation, -1).reshape(len(r), -1).argmax(1)
    best = [np.unravel_index(peak, modulation.f0.shape[1:]) for peak in peaks]
    f0, f1 = (np.array([part[i][b] for i, b in enumerate(best)]) for part in (modulation.f0, modulation.f1))
    simple = f1 > f0

    def one(i: int) -> dict[str, float | bool] | None:
        curve = (modulation.f1 if simple[i] else modulation.f0)[i]
        at_orientation, at_frequency = best[i]
        if curve[at_orientation, at_frequency] <= 0:
            return None
        turned = orientation_tuning(orientation, curve[:, at_frequency])
        scaled = frequency_tuning(frequency, curve[at_orientation], float(highest[i]))
        return {
            "preferred_orientation": turned.preferred,
            "circular_variance": turned.circular_variance,
            "orientation_selectivity_index": turned.selectivity_index,
            "orientation_half_width": turned.half_width,
            "censored_orientation_half_width": turned.broad,
            "preferred_spatial_frequency": scaled.preferred,
            "censored_preferred_spatial_frequency": scaled.at_edge,
            "spatial_frequency_bandwidth": scaled.bandwidth,
            "censored_spatial_frequency_bandwidth": scaled.cut_missing,
            "bandwidth_index": scaled.index,
            "censored_bandwidth_index": scaled.index_cut_missing,
            "best_orientation": float(orientation[at_orientation]),
            "best_spatial_frequency": float(frequency[at_frequency]),
            "best_phase": float(modulation.best_phase[i][best[i]]),
            "f1_f0": float(modulation.ratio[i][best[i]]),
        }

    columns = tabulate(len(r), NAMES, one)
    largest = np.maximum(f0, f1)
    medians = np.array([np.median(largest[block == b]) for b in block])
    columns["maximum_response"] = largest
    columns["responsive"] = (largest > 0) & (largest >= RESPONSIVE_SHARE * medians)
    columns["simple"] = simple & (largest > 0)
    return columns


def tuning_in_time(gratings: xr.Dataset, signal: str = "z") -> xr.Dataset:
    """Measure the tuning at every recorded time.

    Parameters
    ----------
    gratings : xarray.Dataset
        As for `tuning_measures`.
    signal : str

    Returns
    -------
    xarray.Dataset
        (time, unit): the measures of `COURSES`, see `stacked_in_time`; NaN where the unit is silent at a time.
    """
    every = [tuning_measures(gratings, signal, i) for i in range(gratings.sizes["time"])]
    return stacked_in_time(every, COURSES, gratings["time"])
