"""Filters sorted by shape: odd, even oriented, centre-surround, blob."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import eval_hermite

from dcnbio.analysis.filters.energy import filter_energy
from dcnbio.analysis.filters.sampled_gaussian import basis_orders
from dcnbio.analysis.filters.steering import angular_frequencies, angular_part, orientation
from dcnbio.analysis.shapes import Floats, Integers

__all__ = ["KINDS", "FilterKinds", "sort_filters"]

KINDS = ("odd", "even", "centre-surround", "blob", "none")
BAR = 1 / 3  # the share of its energy that a second derivative along one direction has at angular frequency 2
LEAST_LOBE = 0.01  # of the main lobe: a smaller one of other sign makes no surround


@dataclass(frozen=True)
class FilterKinds:
    """What shape each filter has.

    Attributes
    ----------
    odd, even, isotropic : array, shape (input, output)
        Shares of the filter's energy in its odd part, its even oriented part and its isotropic part.
    kind : int array, shape (input, output)
        Index in `KINDS`. "odd": the odd share is over a half. Else "even": of the rest, the even oriented part has at
        least half the share that it has in a bar (a second derivative along one direction: 1/3). Else
        "centre-surround" or "blob", by whether a surround has the other sign. "none": all weights are 0.
    orientation : array, shape (input, output)
        Degrees, 0 to 180, along which an odd or even filter varies; NaN for the others.
    """

    odd: Floats
    even: Floats
    isotropic: Floats
    kind: Integers
    orientation: Floats


def has_surround(isotropic: Floats) -> Floats:
    """Say which isotropic filters, alpha of shape (F, ...), change sign with distance from the centre."""
    r = np.linspace(0, 4, 161)  # in sigma
    gauss = np.exp(-(r**2) / 2)

    def along(n: int, at: Floats) -> Floats:
        value: Floats = (-1 / np.sqrt(2)) ** n * eval_hermite(n, at / np.sqrt(2))
        return value

    basis = np.stack([gauss * along(y, np.zeros(1)) * along(x, r) for y, x in basis_orders(isotropic.shape[0])])
    highest, lowest = np.full(isotropic.shape[1:], -np.inf), np.full(isotropic.shape[1:], np.inf)
    for at in basis.T:  # point by point, so that memory stays that of the filters
        value = np.tensordot(at, isotropic, axes=1)
        highest, lowest = np.maximum(highest, value), np.minimum(lowest, value)
    main, other = np.maximum(highest, -lowest), np.minimum(highest, -lowest)
    surround: Floats = other > LEAST_LOBE * main
    return surround


def sort_filters(alpha: Floats, taps: Floats) -> FilterKinds:
    """Sort filters into odd, even oriented, centre-surround and blob by their parts' shares of energy.

    Parameters
    ----------
    alpha : array, shape (F, input, output)
    taps : array, shape (N + 1, k) or (input, output, N + 1, k)

    Returns
    -------
    FilterKinds

    Notes
    -----
    For N = 2 the three parts are orthogonal on the pixel grid, so the shares sum to 1. From N = 4 on the isotropic part
    and that of angular frequency 4 overlap a little on a square grid; shares are divided by their sum.

    Examples
    --------
    >>> from dcnbio.analysis.filters.sampled_gaussian import sampled_taps
    >>> laplacian = np.array([[1.0, 0, 0, 0, 0, 1]])
    >>> alpha = np.concatenate([np.eye(6), laplacian]).T[:, None, :]
    >>> [KINDS[k] for k in sort_filters(alpha, sampled_taps(1.0, 2, 3)).kind[0]]
    ['even', 'odd', 'blob', 'even', 'odd', 'even', 'centre-surround']
    """
    frequencies = angular_frequencies(alpha.shape[0])
    energies = {m: filter_energy(angular_part(alpha, m), taps) for m in frequencies}
    nothing = np.zeros(alpha.shape[1:])
    odd = sum((energies[m] for m in frequencies if m % 2), nothing)
    even = sum((energies[m] for m in frequencies if m % 2 == 0 and m > 0), nothing)
    total = odd + even + energies[0]
    shares = [np.divide(part, total, out=nothing.copy(), where=total > 0) for part in (odd, even, energies[0])]
    isotropic_kind = np.where(has_surround(angular_part(alpha, 0)), 2, 3)
    oriented = even >= BAR / 2 * (even + energies[0])
    kind = np.where(shares[0] > 0.5, 0, np.where(oriented, 1, isotropic_kind))
    kind = np.where(total > 0, kind, 4)
    angle = np.full(alpha.shape[1:], np.nan)
    for code, m in ((0, 1), (1, 2)):
        if m in frequencies:
            angle = np.where(kind == code, orientation(alpha, m) % 180, angle)
    return FilterKinds(shares[0], shares[1], shares[2], kind, angle)
