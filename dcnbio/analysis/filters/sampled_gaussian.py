"""Gaussian derivatives sampled on the pixel grid, in NumPy: what a filter's alpha are the weights of."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import eval_hermite

from dcnbio.analysis.shapes import Floats, Integers
from dcnbio.analysis.statistics.sample import positive_sample
from dcnbio.errors import InputError

__all__ = ["basis_orders", "effective_sigma", "half_width", "sampled_taps"]


def basis_orders(functions: int) -> list[tuple[int, int]]:
    """List the derivative orders (along y, along x) of the basis functions of an N-jet that has so many.

    Parameters
    ----------
    functions : int
        How many basis functions: 1, 3, 6, 10, ...

    Returns
    -------
    list of (int, int)

    Raises
    ------
    InputError
        If no N-jet has so many.

    Examples
    --------
    >>> basis_orders(6)
    [(0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0)]
    """
    order = (math.isqrt(8 * functions + 1) - 3) // 2
    if functions < 1 or (order + 1) * (order + 2) // 2 != functions:
        raise InputError(f"alpha has {functions} basis functions; an N-jet has (N + 1)(N + 2) / 2, as 1, 3, 6 or 10.")
    return [(y, x) for y in range(order + 1) for x in range(order - y, -1, -1)]


def half_width(sigma: ArrayLike, extent: float) -> Integers:
    """Give the half-width in pixels of a window of `extent` sigma: ceil(extent sigma + 0.5).

    Parameters
    ----------
    sigma : array_like
        Scales in pixels, of any shape.
    extent : float
        Half-width in units of sigma; 2 in the paper.

    Returns
    -------
    int array, same shape as sigma
        Pixels.

    Raises
    ------
    InputError
        If a scale is not finite and positive.

    Examples
    --------
    >>> half_width([0.65, 1.0, 2.0], 2).tolist()
    [2, 3, 5]
    """
    return np.ceil(extent * positive_sample(sigma) + 0.5).astype(np.int64)


def sampled_taps(sigma: ArrayLike, order: int, half: int | Integers, reach: int | None = None) -> Floats:
    """Sample scale-normalised derivatives 0 to N of a Gaussian at the integers, each divided by the Gaussian's sum.

    (-1 / sqrt 2)^n H_n(x / (sigma sqrt 2)) g(x), g(x) = exp(-x^2 / (2 sigma^2)) / its sum over the window (eq. 1).

    Parameters
    ----------
    sigma : array, any shape
        Scales in pixels.
    order : int
        N.
    half : int or int array, shape of `sigma`
        Half-width of the window that the sum is taken over.
    reach : int, optional
        Half-width of the samples that are given; the window's by default. Beyond the window they are what it cut.

    Returns
    -------
    array, shape (*sigma.shape, N + 1, 2 reach + 1)

    Examples
    --------
    >>> (abs(sampled_taps(1.0, 2, 3).sum(-1) - [1, 0, 0]) < 0.005).all()
    np.True_
    """
    scale = positive_sample(sigma)[..., None]
    widest = int(np.max(half)) if reach is None else reach
    x = np.arange(-widest, widest + 1, dtype=np.float64)
    gauss = np.exp(-(x**2) / (2 * scale**2))
    inside = np.abs(x) <= np.asarray(half)[..., None]
    if reach is None:
        gauss = gauss * inside
    gauss = gauss / np.sum(gauss * inside, axis=-1, keepdims=True)
    scaled = x / (scale * math.sqrt(2))
    return np.stack([gauss * (-1 / math.sqrt(2)) ** n * eval_hermite(n, scaled) for n in range(order + 1)], axis=-2)


def effective_sigma(sigma: ArrayLike, half: int | Integers) -> Floats:
    """Give the standard deviation in pixels of the Gaussian as sampled and cut by its window.

    Small scales fall between the pixels and large ones are cut, so it is under sigma (Lindeberg 2024,
    doi:10.1007/s10851-024-01196-9).

    Parameters
    ----------
    sigma : array, any shape
        Nominal scales in pixels.
    half : int or int array of that shape
        Half-width of the window in pixels.

    Examples
    --------
    >>> effective_sigma([0.2, 0.5, 5.0], half_width([0.2, 0.5, 5.0], 2)).round(4).tolist()
    [0.0027, 0.4637, 4.6567]
    >>> effective_sigma([1.0, 2.0, 5.0], 3).round(4).tolist()  # a fixed window of 7 x 7
    [0.998, 1.641, 1.9401]
    """
    gauss = sampled_taps(sigma, 0, half)[..., 0, :]
    x = np.arange(gauss.shape[-1]) - (gauss.shape[-1] - 1) / 2
    width: Floats = np.sqrt((gauss * x**2).sum(-1))
    return width
