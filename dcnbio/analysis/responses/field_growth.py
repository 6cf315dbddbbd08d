"""Size of the local receptive field against solver time and block, with the linear prediction that variances add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.field_size import field_size
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["field_growth", "growth_claims"]


def sizes(fields: xr.Dataset) -> Floats:
    """Give sigma by second moments, (time, unit); NaN for a field that is zero."""
    local = fields["local"].transpose("time", "unit", "y", "x").values
    flat = local.reshape(-1, *local.shape[-2:])
    found = [field_size(one).sigma_moments if one.any() else np.nan for one in flat]
    return np.array(found).reshape(local.shape[:2])


def field_growth(
    fields: Mapping[int, xr.Dataset], scales: Mapping[int, Sequence[float]], spacing: Mapping[int, float]
) -> xr.Dataset:
    """Measure fields over time in each block, and what they would be if each block blurred once.

    A linear block of Gaussians adds their variances: one pass of eq. 2 gives
    sigma^2 = sigma(0)^2 + d^2 (sigma_1^2 + sigma_2^2), d the distance in pixels between units of the map.

    Parameters
    ----------
    fields : mapping of int to xarray.Dataset
        From `record_fields`, by block, each at times from 0 to 1.
    scales : mapping of int to sequence of float
        Effective sigma of the two convolutions of each block in units of its map.
    spacing : mapping of int to float
        d of each block.

    Returns
    -------
    xarray.Dataset
        ``sigma`` (block, time), the median over units, in pixels of the image; ``linear`` (block), after one pass;
        ``passes`` (block), how many passes the growth in variance from time 0 to T amounts to; ``spacing`` and
        ``units`` (block).

    Notes
    -----
    It misleads as a count of layers: filters that differentiate widen a field by more than their sigma, and a field
    that sharpens has negative passes.

    Examples
    --------
    >>> y, x = np.mgrid[:32, :32]
    >>> maps = np.stack([np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * s**2)) for s in (2.0, 3.0)])[:, None]
    >>> one = xr.Dataset({"local": (("time", "unit", "y", "x"), maps)}, {"time": [0.0, 1.0]})
    >>> found = field_growth({1: one}, {1: [1.0, 2.0]}, {1: 1.0})
    >>> found.sigma.values.round(2).tolist(), found.passes.values.round(2).tolist()
    ([[2.0, 3.0]], [1.0])
    """
    blocks = sorted(fields)
    sigma = np.stack([np.nanmedian(sizes(fields[block]), axis=1) for block in blocks])
    added = np.array([spacing[block] ** 2 * sum(s**2 for s in scales[block]) for block in blocks])
    pixels = {"units": "pixels"}
    return xr.Dataset(
        {
            "sigma": (("block", "time"), sigma, {"long_name": "sigma of the local field, median over units", **pixels}),
            "linear": ("block", np.sqrt(sigma[:, 0] ** 2 + added), {"long_name": "if variances add once", **pixels}),
            "passes": (
                "block",
                (sigma[:, -1] ** 2 - sigma[:, 0] ** 2) / added,
                {"long_name": "growth in variance over that of one pass", "units": "1"},
            ),
            "spacing": (
                "block",
                [spacing[block] for block in blocks],
                {"long_name": "distance between units of the map", **pixels},
            ),
            "units": ("block", [fields[b].sizes["unit"] for b in blocks], {"long_name": "units", "units": "1"}),
        },
        {"block": blocks, "time": fields[blocks[0]]["time"].values},
    )


def growth_claims(growth: xr.Dataset) -> list[Claim]:
    """Say how the local field grows in each block."""
    claims = []
    for i, block in enumerate(growth["block"].values.tolist()):
        sigma, linear = growth["sigma"].values[i], float(growth["linear"].values[i])
        passes = float(growth["passes"].values[i])
        claims.append(
            Claim(
                f"block {block}: sigma of the local field at T (pixels), median",
                int(growth["units"].values[i]),
                "units of one network",
                float(sigma[-1]),
                Interval.none("few units of one network"),
                Control("linear prediction, variances of one pass added", linear),
                f"In block {block} the local field's sigma goes from {sigma[0]:.2f} to {sigma[-1]:.2f} pixels; linear "
                f"blur in one pass gives {linear:.2f}, so the growth in variance is that of {passes:.1f} passes.",
            )
        )
    return claims
