"""Receptive fields of units: size by gradient and by noise, the norms' global share, and Gabor shape."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.field_size import field_size
from dcnbio.analysis.responses.gabor import fit_gabor
from dcnbio.analysis.responses.unit_table import Columns, tabulate
from dcnbio.analysis.shapes import Floats

__all__ = ["field_measures", "noise_field_measures"]

GRADIENT = (
    "field_sigma_gradient",
    "field_sigma_moments",
    "field_fit_r_squared",
    "field_centre_y",
    "field_centre_x",
    "field_global_share",
    "field_width_nx",
    "field_width_ny",
)
SIGNAL = 0.5  # share of a noise field's energy that is no sampling error, below which no size is read off it


def field_measures(fields: xr.Dataset, time: int = -1, *, shape: bool = True) -> Columns:
    """Measure the fields that `record_fields` recorded, at one time.

    Parameters
    ----------
    fields : xarray.Dataset
        ``local`` and perhaps ``whole`` (time, unit, y, x).
    time : int
        Index of the time; the last by default.
    shape : bool
        Whether a Gabor function is fitted as well.

    Returns
    -------
    dict of str to array [unit]
        With ``gabor_fitted``.
    """
    local = fields["local"].isel(time=time).values
    whole = fields["whole"].isel(time=time).values if "whole" in fields else None
    fits = np.zeros(len(local), dtype=bool)

    def one(i: int) -> dict[str, float | bool] | None:
        if not local[i].any():
            return None
        size = field_size(local[i])
        row: dict[str, float | bool] = {
            "field_sigma_gradient": size.sigma_fit,
            "censored_field_sigma_gradient": size.clipped,
            "field_sigma_moments": size.sigma_moments,
            "censored_field_sigma_moments": size.moments_clipped,
            "field_fit_r_squared": size.r_squared,
            "field_centre_y": size.centroid[0],
            "field_centre_x": size.centroid[1],
        }
        if whole is not None and whole[i].any():
            row["field_global_share"] = float(((whole[i] - local[i]) ** 2).sum() / (whole[i] ** 2).sum())
        if shape:
            gabor = fit_gabor(local[i])
            fits[i] = gabor.fitted
            row |= {"field_width_nx": gabor.nx, "field_width_ny": gabor.ny}
        return row

    columns = tabulate(len(local), GRADIENT, one)
    columns["gabor_fitted"] = fits
    return columns


def noise_field_measures(noise: xr.Dataset, local: Floats) -> Columns:
    """Measure the fields by noise correlation, and how they agree with those by gradient.

    Parameters
    ----------
    noise : xarray.Dataset
        From `record_noise_fields`.
    local : array [unit, y, x]
        Local fields by gradient, of the same units.

    Returns
    -------
    dict of str to array [unit]
        The size is NaN where less than half of the field's energy is signal: a Gaussian fitted to a field at that bound
        is right within 0.1 octaves (standard deviation over draws), for fields of one lobe.
    """
    field, error = noise["noise_field"].values, noise["noise_error"].values

    def one(i: int) -> dict[str, float | bool] | None:
        row: dict[str, float | bool] = {}
        if field[i].any() and local[i].any():
            row["field_agreement"] = float(np.corrcoef(field[i].ravel(), local[i].ravel())[0, 1])
        if not field[i].any():
            return row
        # the squares of all pixels hold the field's energy and, in each pixel, the square of the standard error
        share = max(0.0, 1 - field[i].size * error[i] ** 2 / float(np.square(field[i]).sum()))
        row["field_signal_share"] = share
        if share >= SIGNAL:
            size = field_size(field[i])
            row |= {"field_sigma_noise": size.sigma_fit, "censored_field_sigma_noise": size.clipped}
        return row

    return tabulate(len(field), ("field_sigma_noise", "field_agreement", "field_signal_share"), one)
