"""Centred kernel alignment: how alike the geometries of two sets of maps of the same images are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["unbiased_alignment"]

Matrix = npt.NDArray[np.float64]
LEAST = 4


def unbiased_independence(first: Matrix, second: Matrix) -> float:
    """Give the unbiased estimate of the Hilbert-Schmidt independence criterion of two kernels with zero diagonals."""
    n = len(first)
    trace = float((first * second).sum())
    sums = float(first.sum() * second.sum()) / ((n - 1) * (n - 2))
    cross = 2 * float(first.sum(0) @ second.sum(0)) / (n - 2)
    return (trace + sums - cross) / (n * (n - 3))


def unbiased_alignment(first: Matrix, second: Matrix) -> float:
    """Give linear CKA of two sets of maps, from their inner products, without the bias of few images.

    Parameters
    ----------
    first, second : array [image, image]
        Inner products of the maps of every two images.

    Returns
    -------
    float
        1 for geometries that are equal up to scale; about 0, and at times below, for unrelated ones. NaN with under
        four images, or where an estimate of a kernel's own variance is not positive.

    References
    ----------
    .. [1] Kornblith et al. (2019). Similarity of neural network representations revisited. ICML. arXiv:1905.00414.
    .. [2] Song et al. (2012). Feature selection via dependence maximization. JMLR 13, 1393-1434.

    Examples
    --------
    >>> rows = np.random.default_rng(0).standard_normal((20, 50))
    >>> round(unbiased_alignment(rows @ rows.T, 4 * rows @ rows.T), 6)
    1.0
    """
    if len(first) < LEAST:
        return math.nan
    one, two = first.copy(), second.copy()
    np.fill_diagonal(one, 0)
    np.fill_diagonal(two, 0)
    own = unbiased_independence(one, one), unbiased_independence(two, two)
    if min(own) <= 0:
        return math.nan
    return unbiased_independence(one, two) / math.sqrt(own[0] * own[1])
