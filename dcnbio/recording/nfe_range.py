"""How many evaluations of the vector field a block's solves took, least and most."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

__all__ = ["nfe_range"]


def nfe_range(block: xr.Dataset) -> list[int] | None:
    """Give the least and most evaluations of the images that were solved, to the end or not.

    An image that could not be used (status ``bad_input``) has 0, which is no number of evaluations of a solve.

    Parameters
    ----------
    block : xarray.Dataset
        Node of a recording, with ``nfe`` and ``status`` (stimulus).

    Returns
    -------
    list of int or None
        None where no image was solved.

    Examples
    --------
    >>> status = ("stimulus", [0, 1, 0], {"codes": '{"ok": 0, "bad_input": 1}'})
    >>> nfe_range(xr.Dataset({"nfe": ("stimulus", [26, 0, 20]), "status": status}))
    [20, 26]
    """
    left_out = json.loads(block["status"].attrs["codes"]).get("bad_input", -1)
    nfe = block["nfe"].values[np.asarray(block["status"].values != left_out)]
    return [int(nfe.min()), int(nfe.max())] if nfe.size else None
