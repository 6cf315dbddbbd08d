"""Cross-orientation and surround suppression of units, as they are and with the norms' statistics held."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.tuning_measures import RESPONSIVE_SHARE
from dcnbio.analysis.responses.unit_table import Columns
from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["interaction_measures", "suppression_by"]


def suppression_by(alone: Floats, together: Floats, least: float = 0.0) -> Floats:
    """Give 1 - r(with the other) / r(alone): 1 for silence, 0 for no change, below 0 for facilitation.

    Parameters
    ----------
    alone, together : array [unit]
        Responses, at least 0.
    least : float
        Response to its grating alone below which a unit has no index, since it would be a ratio of noise.

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
    good = (alone > 0) & (alone >= least)
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
        block = recording["block"].values

        def index(alone: str, together: str, r: dict[str, Floats] = r, block: Floats = block) -> Floats:
            found: Floats = np.full(block.shape, np.nan)
            for number in np.unique(block):
                here = block == number
                least = RESPONSIVE_SHARE * float(np.median(r[alone][here]))
                found[here] = suppression_by(r[alone][here], r[together][here], least)
            return found

        iso, cross = index("centre", "iso_surround"), index("centre", "cross_surround")
        columns[f"cross_orientation_suppression{suffix}"] = index("grating", "plaid")
        columns[f"iso_surround_suppression{suffix}"] = iso
        columns[f"cross_surround_suppression{suffix}"] = cross
        columns[f"surround_orientation_difference{suffix}"] = iso - cross
    return columns
