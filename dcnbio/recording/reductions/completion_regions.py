"""Where a mask of the image lies on a block's map: positions that see it alone, in part, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dcnbio.errors import InputError

__all__ = ["REGIONS", "Convolution", "mask_regions", "seen_pixels"]

REGIONS = ("whole", "inside", "border", "outside")


class Convolution(NamedTuple):
    """What a layer's geometry is: its kernel's width, stride and zero padding, in pixels of its input.

    Examples
    --------
    >>> Convolution(4, 2, 1).padding
    1
    """

    kernel: int
    stride: int = 1
    padding: int = 0


def seen_pixels(layers: Iterable[Convolution], size: int) -> npt.NDArray[np.int64]:
    """Give the first and last pixel of the image that each position of a map sees, along one axis.

    Parameters
    ----------
    layers : iterable of Convolution
        From the image to the map, in order.
    size : int
        Of the image, in pixels.

    Returns
    -------
    int64 array [position, 2]
        Inclusive; cut at the image's edges.

    Notes
    -----
    It misleads as "receptive field" of a block after the first: within a block the flow spreads what is seen with every
    kernel, and its norms read the whole map. What is given here is the place, not the reach.

    Examples
    --------
    >>> seen_pixels([Convolution(3), Convolution(4, 2, 1)], 32)[:2].tolist()
    [[0, 4], [1, 6]]
    """
    seen = np.repeat(np.arange(size)[:, None], 2, axis=1)
    for kernel, stride, padding in layers:
        count = (len(seen) + 2 * padding - kernel) // stride + 1
        if count < 1:
            raise InputError(f"a kernel of {kernel} pixels does not fit a map of {len(seen)}; use larger images.")
        first = np.arange(count) * stride - padding
        last = np.clip(first + kernel - 1, 0, len(seen) - 1)
        seen = np.stack([seen[np.clip(first, 0, len(seen) - 1), 0], seen[last, 1]], axis=1)
    return seen


def along(seen: npt.NDArray[np.int64], start: int, length: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Say of each position along one axis whether it sees masked pixels alone, and whether it sees any."""
    end = start + length - 1
    return (seen[:, 0] >= start) & (seen[:, 1] <= end), (seen[:, 0] <= end) & (seen[:, 1] >= start)


def mask_regions(
    box: tuple[int, int, int, int], rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> npt.NDArray[np.str_]:
    """Name each position of a map after what it sees of a rectangular mask.

    Parameters
    ----------
    box : (top, left, height, width)
        The mask, in pixels of the image; an empty one is seen by no position.
    rows, columns : int64 array [position, 2]
        From `seen_pixels`.

    Returns
    -------
    array of str [y, x]
        "inside": masked pixels alone; "border": some; "outside": none.

    Examples
    --------
    >>> seen = seen_pixels([Convolution(3)], 6)
    >>> mask_regions((1, 1, 3, 3), seen, seen)[1].tolist()
    ['border', 'inside', 'border', 'border']
    """
    top, left, height, width = box
    if height < 1 or width < 1:
        return np.full((len(rows), len(columns)), "outside")
    all_rows, any_rows = along(rows, top, height)
    all_columns, any_columns = along(columns, left, width)
    inside, touched = np.outer(all_rows, all_columns), np.outer(any_rows, any_columns)
    found: npt.NDArray[np.str_] = np.where(inside, "inside", np.where(touched, "border", "outside"))
    return found
