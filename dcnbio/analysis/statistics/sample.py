"""What may enter a statistic: finite numbers, positive where a logarithm is taken, and enough of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["finite_sample", "positive_sample"]


def finite_sample(values: ArrayLike, name: str = "values") -> Floats:
    """Give values as float64, or say what is wrong with them.

    Parameters
    ----------
    values : array, any shape
    name : str
        What they are, for the message.

    Returns
    -------
    array of float64, same shape

    Raises
    ------
    InputError
        If there are none, or some are NaN or infinite.

    Examples
    --------
    >>> finite_sample([1, 2]).tolist()
    [1.0, 2.0]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise InputError(f"{name} has no value; a statistic needs at least one, so check what was selected.")
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise InputError(
            f"{name} has {bad} non-finite value{'s' * (bad > 1)} of {array.size}; statistics take finite numbers, so "
            "find out where NaN or infinity came from, or leave those values out and say so."
        )
    return array


def positive_sample(values: ArrayLike, name: str = "sigma") -> Floats:
    """Give positive values as float64, or say what is wrong with them.

    Parameters
    ----------
    values : array_like
        Of any shape.
    name : str
        What the message calls them.

    Returns
    -------
    float array, same shape as values

    Raises
    ------
    InputError
        As `finite_sample`, and if a value is zero or negative, which has no logarithm.

    Examples
    --------
    >>> positive_sample([1, 0, 2])
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: sigma has 1 non-positive value of 3; a log-normal takes values above 0, so leave it out.
    """
    array = finite_sample(values, name)
    bad = int((array <= 0).sum())
    if bad:
        them = "it" if bad == 1 else "them"
        raise InputError(
            f"{name} has {bad} non-positive value{'s' * (bad > 1)} of {array.size}; a log-normal takes values above 0, "
            f"so leave {them} out."
        )
    return array
