"""Cross-orientation and surround suppression of units, as they are and with the norms' statistics held."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.unit_table import Columns
from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["interaction_measures", "suppression_by"]


def suppression_by(alone: Floats, together: Floats) -> Floats:
    """Give 1 - r(with the other) / r(alone): 1 for silence, 0 for no change, below 0 for facilitation.

    Parameters
    ----------
    alone, together : array [unit]
        Responses, at least 0.

    Returns
    -------
    array [unit]
        NaN where the unit does not respond to its own grating.

    Examples
    --------
    >>> suppression_by(np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.5, 1.0])).tolist()
    [0.5, -0.5, nan]
    """
    found: Floats = np.full(alone.shape, np.nan)
    good = alone > 0
    found[good] = 1 - together[good] / alone[good]
    return found


def interaction_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure suppression by a mask across the grating, and by surrounds along and across it.

    Parameters
    ----------
    recording : xarray.Dataset
        From `dcnbio.probe.responses.record_interactions`.
    signal : str
        "z" or "h_change".

    Returns
    -------
    dict of str to array [unit]
        ``cross_orientation_suppression``, ``iso_surround_suppression``, ``cross_surround_suppression`` and
        ``surround_orientation_difference`` (iso minus cross), and each with ``_held``.

    Raises
    ------
    InputError
        If there is no such signal.

    Notes
    -----
    Group norm knows no orientation: it predicts 1 - 1/sqrt 2 = 0.29 for a mask of equal contrast, and the same for both
    surrounds. The index has no lower end; facilitation is negative.
    """
    columns: Columns = {}
    for suffix in ("", "_held"):
        name = f"{signal}{suffix}"
        if name not in recording:
            raise InputError(f"signal is {signal!r}; the recording has {', '.join(map(str, recording.data_vars))}.")
        above = (recording[name] - recording[f"{signal}_blank"]).clip(min=0)
        r = {str(condition): above.sel(condition=condition).values for condition in above["condition"].values}
        iso = suppression_by(r["centre"], r["iso_surround"])
        cross = suppression_by(r["centre"], r["cross_surround"])
        columns[f"cross_orientation_suppression{suffix}"] = suppression_by(r["grating"], r["plaid"])
        columns[f"iso_surround_suppression{suffix}"] = iso
        columns[f"cross_surround_suppression{suffix}"] = cross
        columns[f"surround_orientation_difference{suffix}"] = iso - cross
    return columns
