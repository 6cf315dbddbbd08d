"""Energy of filters, and how much of it their window cuts away, from the products of the sampled derivatives."""

from __future__ import annotations

import numpy as np

from dcnbio.analysis.filters.sampled_gaussian import basis_orders, sampled_taps
from dcnbio.analysis.shapes import Floats, Integers

__all__ = ["energy_cut", "filter_energy", "square_of"]

SAMPLES = 1 << 18  # pixels along a filter times filters that are sampled at a time


def square_of(alpha: Floats) -> Floats:
    """Put alpha, shape (F, ...), into a square by derivative order, shape (N + 1, N + 1, ...): along y, along x.

    Examples
    --------
    >>> square_of(np.arange(3.0)).tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """
    orders = basis_orders(alpha.shape[0])
    side = 1 + max(y for y, _ in orders)
    square = np.zeros((side, side, *alpha.shape[1:]))
    for (y, x), weight in zip(orders, alpha, strict=True):
        square[y, x] = weight
    return square


def filter_energy(alpha: Floats, taps: Floats) -> Floats:
    """Give the energy, the sum of the squared weights, of every filter without building it.

    Filters are separable sums (eq. 9), so the sum over pixels is alpha' (M x M) alpha with M the products of the taps.

    Parameters
    ----------
    alpha : array, shape (F, input, output)
    taps : array, shape (N + 1, k) or (input, output, N + 1, k)

    Returns
    -------
    array, shape (input, output)

    Examples
    --------
    >>> from dcnbio.analysis.filters.sampled_gaussian import sampled_taps
    >>> filter_energy(np.eye(6)[2].reshape(6, 1, 1), sampled_taps(1.0, 2, 3)).round(4).tolist()
    [[0.0797]]
    """
    products = np.einsum("...nk,...mk->...nm", taps, taps)
    products = np.broadcast_to(products, (*alpha.shape[1:], *products.shape[-2:]))
    square = np.moveaxis(square_of(alpha), (0, 1), (-2, -1))
    energy: Floats = np.einsum("ioyx,ioyx->io", products @ square @ products, square)
    return energy


def energy_cut(alpha: Floats, sigma: Floats, half: Integers) -> Floats:
    """Give the share of every filter's energy that lies outside its window.

    Parameters
    ----------
    alpha : array, shape (F, input, output)
    sigma : array, shape () or (input, output)
        Scales in pixels.
    half : int array, shape of `sigma`
        Half-width of the window in pixels.

    Returns
    -------
    array, shape (input, output)
        0 where a filter's weights are all 0.

    Examples
    --------
    >>> flat = np.eye(6)[2].reshape(6, 1, 1)
    >>> [round(float(energy_cut(flat, np.array(s), np.array(3))[0, 0]), 3) for s in (1.0, 3.0)]
    [0.0, 0.182]
    """
    if sigma.ndim == 0:
        return cut_within(alpha, sigma, half)
    # ordered by scale, so that a wide filter makes its own samples wide and no others'
    order = np.argsort(sigma, axis=None)
    weights, scales, halves = alpha.reshape(len(alpha), 1, -1)[..., order], sigma.ravel()[order], half.ravel()[order]
    found = np.empty(sigma.size)
    start = 0
    while start < sigma.size:
        most = max(1, SAMPLES // (2 * reach_of(alpha, scales[start], halves[start]) + 1))
        octave = int(np.searchsorted(scales[start:], 2 * scales[start]))
        some = slice(start, min(start + min(most, octave), sigma.size))
        found[order[some]] = cut_within(weights[..., some], scales[None, some], halves[None, some])[0]
        start = some.stop
    return found.reshape(sigma.shape)


def reach_of(alpha: Floats, sigma: Floats, half: Integers) -> int:
    """Give the half-width in pixels within which filters of these scales have all their energy."""
    order = basis_orders(alpha.shape[0])[-1][0]
    return int(max(np.max(half), np.ceil((6 + order) * np.max(sigma))))


def cut_within(alpha: Floats, sigma: Floats, half: Integers) -> Floats:
    """Give the share of filters' energy outside their windows, all sampled as widely as the widest needs."""
    reach = reach_of(alpha, sigma, half)
    wide = sampled_taps(sigma, basis_orders(alpha.shape[0])[-1][0], half, reach=reach)
    x = np.arange(-reach, reach + 1)
    within = wide * (np.abs(x) <= half[..., None])[..., None, :]
    everywhere, kept = filter_energy(alpha, wide), filter_energy(alpha, within)
    cut: Floats = 1 - np.divide(kept, everywhere, out=np.ones_like(kept), where=everywhere > 0)
    return np.clip(cut, 0, 1)
