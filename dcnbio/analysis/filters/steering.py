"""The parts of a filter that turn alike: isotropic, odd and even, and its orientation, from alpha alone.

A filter turned by theta has its part of angular frequency m multiplied by exp(i m theta): that is what steering is
(eq. 8 for order 2). Writing d/dx = D + D* and d/dy = i (D - D*) sorts every derivative into such parts.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from dcnbio.analysis.filters.sampled_gaussian import basis_orders
from dcnbio.analysis.shapes import Floats

__all__ = ["angular_frequencies", "angular_part", "orientation"]


@functools.cache
def to_angular(order: int) -> tuple[np.ndarray, tuple[tuple[int, int], ...]]:
    """Give the matrix from alpha to the coefficients of D^p D*^q, and the (p, q) of each, for an N-jet."""
    orders = basis_orders((order + 1) * (order + 2) // 2)
    pairs = tuple((p, n - p) for n in range(order + 1) for p in range(n + 1))
    matrix = np.zeros((len(pairs), len(orders)), dtype=np.complex128)
    for column, (y, x) in enumerate(orders):
        along_x = [math.comb(x, p) for p in range(x + 1)]
        along_y = [1j**y * math.comb(y, p) * (-1) ** (y - p) for p in range(y + 1)]
        for p, value in enumerate(np.convolve(along_x, along_y)):
            matrix[pairs.index((p, x + y - p)), column] += value
    return matrix, pairs


def angular_frequencies(functions: int) -> list[int]:
    """List the angular frequencies |m| that an N-jet of so many basis functions has.

    Parameters
    ----------
    functions : int
        How many basis functions: 1, 3, 6, 10, ...

    Returns
    -------
    list of int
        In cycles per turn.

    Raises
    ------
    InputError
        If no N-jet has so many.

    Examples
    --------
    >>> angular_frequencies(6)
    [0, 1, 2]
    """
    return list(range(basis_orders(functions)[-1][0] + 1))


def angular_part(alpha: Floats, frequency: int) -> Floats:
    """Keep the part of filters that has angular frequency +-m; the parts of all m sum to the filter.

    Parameters
    ----------
    alpha : array, shape (F, ...)
    frequency : int
        m: 0 isotropic (blobs, centre-surround), odd m odd filters, even m from 2 on even oriented ones.

    Returns
    -------
    array, shape (F, ...)

    Examples
    --------
    >>> second_along_x = np.array([1.0, 0, 0, 0, 0, 0])
    >>> angular_part(second_along_x, 0).tolist()  # half a Laplacian
    [0.5, 0.0, 0.0, 0.0, 0.0, 0.5]
    >>> angular_part(second_along_x, 2).tolist()
    [0.5, 0.0, 0.0, 0.0, 0.0, -0.5]
    """
    order = basis_orders(alpha.shape[0])[-1][0]
    matrix, pairs = to_angular(order)
    keep = np.array([abs(p - q) == frequency for p, q in pairs])
    projection = np.linalg.inv(matrix) @ (keep[:, None] * matrix)
    part: Floats = np.tensordot(projection.real, alpha, axes=1)
    return part + 0.0


def orientation(alpha: Floats, frequency: int) -> Floats:
    """Give the direction along which filters vary most, in degrees from the x axis towards the y axis (down).

    Of the part of angular frequency m = 1 (odd filters: 0 to 360, the direction of their gradient) or m = 2 (even
    filters: 0 to 180, the direction of their largest second derivative in size, the isotropic second-order part
    included: it decides between the two axes).

    Parameters
    ----------
    alpha : array, shape (F, ...)
        Weights of an N-jet with N of at least m; orders above m are left out.
    frequency : {1, 2}

    Returns
    -------
    array, shape (...)
        NaN where that part is 0.

    Notes
    -----
    Edges and bars lie at a right angle to it.

    Examples
    --------
    >>> turned = np.radians(30)
    >>> c, s = np.cos(turned), np.sin(turned)
    >>> even = np.array([c * c, 0, 0, 2 * c * s, 0, s * s])
    >>> odd = np.array([0, c, 0, 0, s, 0])
    >>> [round(float(orientation(alpha, m)), 6) for alpha, m in ((even, 2), (-even, 2), (odd, 1))]
    [30.0, 30.0, 30.0]
    """
    named = dict(zip(basis_orders(alpha.shape[0]), alpha, strict=True))
    if frequency == 1:
        y, x = named[1, 0], named[0, 1]
        angle = np.degrees(np.arctan2(y, x)) % 360
        size = np.hypot(y, x)
    else:
        difference, mixed = named[0, 2] - named[2, 0], named[1, 1]
        size = np.hypot(difference, mixed)
        angle = np.degrees(np.arctan2(mixed, difference)) / 2
        angle = (angle + np.where(named[0, 2] + named[2, 0] < 0, 90, 0)) % 180
    return np.where(size > 0, angle, np.nan)
