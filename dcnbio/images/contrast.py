"""Contrast of images, as the paper scales it."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError

__all__ = ["scale_contrast"]

Floating = TypeVar("Floating", bound=np.floating[Any])


def scale_contrast(images: NDArray[Floating], c: float) -> NDArray[Floating]:
    """Return the images at contrast c: c x image.

    Parameters
    ----------
    images : floating-point array [n, channel, y, x]
        Images in [0, 1].
    c : float
        Contrast, finite and at least 0; 1 leaves the images as they are.

    Returns
    -------
    array [n, channel, y, x]
        The scaled copy, in the images' own dtype; not clipped, so c > 1 leaves [0, 1].

    Raises
    ------
    InputError
        For integer images, or a c that is negative or not finite.

    Notes
    -----
    It misleads when read as Michelson or RMS contrast about a fixed mean: the mean luminance is scaled as well.

    References
    ----------
    Tomen, Pintea & van Gemert, Deep Continuous Networks, ICML 2021, contrast robustness.

    Examples
    --------
    >>> float(scale_contrast(np.ones((1, 3, 2, 2)), 0.25).max())
    0.25
    """
    values = np.asarray(images)
    if not np.issubdtype(values.dtype, np.floating):
        raise InputError(f"images is {values.dtype}: give floating-point values in [0, 1] (divide 8-bit values by 255)")
    number = isinstance(c, int | float | np.integer | np.floating) and not isinstance(c, bool)
    if not number or not np.isfinite(c) or c < 0:
        raise InputError(f"c is {c!r}: contrast is a finite number of at least 0, and 1 leaves the images as they are")
    scaled: NDArray[Floating] = values * values.dtype.type(c)
    return scaled
