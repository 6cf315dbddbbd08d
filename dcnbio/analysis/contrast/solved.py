"""Which images were solved in every pass that is compared: one that ended early took fewer evaluations by failing."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

__all__ = ["left_out", "solved_at", "solved_batches"]


def solved_at(data: xr.Dataset, c: float) -> NDArray[np.bool_]:
    """Say which images were solved at contrast 1 and in every pass at contrast c.

    Parameters
    ----------
    data : xarray.Dataset
        A node of `dcnbio.probe.contrast.record_contrast` with ``answer`` and ``reference_answer``, -1 where a block was
        not solved; images are the last axis.
    c : float

    Returns
    -------
    bool array, shape (image,)

    Examples
    --------
    >>> answer = [[[3, -1, 5]], [[3, 4, 5]]]
    >>> data = xr.Dataset(
    ...     {"answer": (("protocol", "contrast", "stimulus"), answer), "reference_answer": ("stimulus", [3, 4, -1])},
    ...     {"contrast": [0.1]},
    ... )
    >>> solved_at(data, 0.1).tolist()
    [True, False, False]
    """
    answers = data["answer"].sel(contrast=c).values
    found: NDArray[np.bool_] = np.logical_and.reduce((answers >= 0).reshape(-1, answers.shape[-1]))
    return found & (data["reference_answer"].values >= 0)


def solved_batches(data: xr.Dataset, c: float) -> NDArray[np.bool_]:
    """Say of which batches, whose images share their steps, every image was solved; see `solved_at`."""
    starts = np.cumsum(data["batch_images"].values) - data["batch_images"].values
    found: NDArray[np.bool_] = np.logical_and.reduceat(solved_at(data, c), starts)
    return found


def left_out(count: int, one: str = "image", several: str = "images") -> str:
    """Say how many were left out; nothing where all were solved.

    Examples
    --------
    >>> left_out(0), left_out(1), left_out(2, "batch", "batches")
    ('', '; 1 image that was not solved is left out', '; 2 batches that were not solved are left out')
    """
    which = f"{several} that were not solved are" if count > 1 else f"{one} that was not solved is"
    return f"; {count} {which} left out" if count else ""
