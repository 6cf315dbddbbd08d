"""What the contrast-time law says a response at one contrast must be, given that at another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["law_prediction"]


def law_prediction(time: ArrayLike, z: ArrayLike, ratio: float) -> Floats:
    """Predict z at a higher contrast from z at a lower: z_c(t) = z_0(t c_0 / c).

    In a block whose field does not depend on the scale of h (group norm with eps = 0), h_c(t) = c h_1(t / c) up to the
    grey's offset, and z = activation(norm(h)) is the same at (c, t) and (1, t / c): a response at low contrast is one
    at high contrast that is further on. A DCN's time channel, zero padding of the grey and eps break the law; what a
    measurement has beyond it is theirs.

    Parameters
    ----------
    time : array [t]
        From 0, ascending.
    z : array [..., t]
        At the low contrast c_0.
    ratio : float
        c / c_0, at least 1: the other way, z would be needed beyond T.

    Returns
    -------
    array [..., t]
        z at the contrast c.

    Raises
    ------
    InputError
        If the ratio is below 1, or times do not begin at 0.

    Examples
    --------
    >>> t = np.linspace(0, 2, 21)
    >>> bool(np.allclose(law_prediction(t, np.exp(-t), 4.0), np.exp(-t / 4), atol=1e-5))
    True
    """
    t = np.asarray(time, dtype=np.float64)
    if ratio < 1 or t[0] != 0:
        raise InputError(f"ratio is {ratio} and the first time {t[0]}; predict a higher contrast, from time 0 on.")
    found: Floats = CubicSpline(t, np.asarray(z, dtype=np.float64), axis=-1)(t / ratio)
    return found
