"""Sampled Gaussian derivatives: the one-dimensional taps that every filter of the N-jet is made of.

References
----------
.. [1] Tomen, N., Pintea, S.-L. and van Gemert, J. (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.
.. [2] Koenderink, J. J. and van Doorn, A. J. (1987). Representation of local geometry in the visual system.
   Biological Cybernetics 55, 367-375. doi:10.1007/BF00318371.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dcnbio.errors import InputError

LARGEST_SIGMA = 1000.0

__all__ = ["basis_orders", "gaussian_taps", "hermite", "jet_basis", "window_half_width"]


def hermite(order: int, x: Tensor) -> Tensor:
    """Evaluate the physicists' Hermite polynomial H_n by its recurrence, exact for any order.

    H_0 = 1, H_1 = 2x, H_{n+1} = 2x H_n - 2n H_{n-1}.

    Parameters
    ----------
    order : int
        n, at least 0.
    x : Tensor
        Arguments, any shape.

    Returns
    -------
    Tensor
        H_n(x), the shape of `x`.

    Raises
    ------
    InputError
        If `order` is negative.

    Examples
    --------
    >>> float(hermite(10, torch.tensor(1.0, dtype=torch.float64)))
    8224.0
    """
    if order < 0:
        raise InputError(f"order is {order}; a Hermite polynomial has an order of 0 or more.")
    previous, current = torch.zeros_like(x), torch.ones_like(x)
    for n in range(order):
        previous, current = current, 2 * x * current - 2 * n * previous
    return current


def basis_orders(order: int) -> list[tuple[int, int]]:
    """List the derivative orders (along y, along x) of the N-jet's basis functions, in the order alpha uses.

    There are (N + 1)(N + 2) / 2 of them: all pairs with a sum of at most N.

    Parameters
    ----------
    order : int
        N, 0 or more.

    Returns
    -------
    list of (int, int)

    Raises
    ------
    InputError
        If the order is below 0.

    Examples
    --------
    >>> basis_orders(2)
    [(0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0)]
    """
    if order < 0:
        raise InputError(f"kernel_order is {order}; the N-jet's order is 0 or more (the paper uses 2).")
    return [(along_y, along_x) for along_y in range(order + 1) for along_x in range(order - along_y, -1, -1)]


def window_half_width(sigma: Tensor, extent: float = 2.0) -> Tensor:
    """Give the half-width in pixels of the square window a filter of scale sigma is sampled on.

    half-width = ceil(extent * sigma + 0.5), so that the kernel has 2 * half-width + 1 pixels a side.

    Parameters
    ----------
    sigma : Tensor, any shape
        Scales in pixels, positive.
    extent : float
        How many sigma the window reaches to each side; 2 in the paper.

    Returns
    -------
    Tensor of int64, the shape of `sigma`

    Raises
    ------
    InputError
        If a scale is not positive and finite, or so large (over 1,000 pixels) that no kernel could be built.

    Examples
    --------
    >>> (2 * window_half_width(torch.tensor([0.65, 1.0, 2.0, 3.0])) + 1).tolist()
    [5, 7, 11, 15]
    """
    sigma = sigma.detach()
    if not bool(((sigma > 0) & (sigma < LARGEST_SIGMA)).all()):
        wrong = sigma[~((sigma > 0) & (sigma < LARGEST_SIGMA))].flatten()[0]
        raise InputError(
            f"sigma is {float(wrong):g} pixels; a scale is positive and under {LARGEST_SIGMA:g} pixels, so check "
            "log2 sigma of the layer (training may have diverged)."
        )
    return torch.ceil(extent * sigma + 0.5).long()


def gaussian_taps(sigma: Tensor, order: int, half_width: int | Tensor) -> Tensor:
    """Sample the scale-normalised derivatives 0 to N of a one-dimensional Gaussian at the integers.

    The Gaussian is divided by its sum over the window; its n-th derivative is that times
    (-1 / (sigma sqrt 2))^n H_n(x / (sigma sqrt 2)), and is multiplied by sigma^n (eq. 1 of [1]_, discrete).

    Parameters
    ----------
    sigma : Tensor, shape (*scales,)
        Scales in pixels; gradients flow to it.
    order : int
        N, the highest derivative.
    half_width : int or integer Tensor, shape (*scales,)
        The window reaches from -half_width to half_width. Where scales have windows of their own, narrower filters are
        padded with zeros to the widest.

    Returns
    -------
    Tensor, shape (*scales, N + 1, 2 * half_width + 1)
        Taps, in the dtype of `sigma`.

    Notes
    -----
    For sigma under about 0.5 pixels the samples no longer describe the continuous Gaussian: its effective width on the
    grid is far smaller than sigma (Lindeberg 2024, doi:10.1007/s10851-024-01196-9).

    References
    ----------
    .. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.

    Examples
    --------
    >>> taps = gaussian_taps(torch.tensor(1.0, dtype=torch.float64), 2, 3)
    >>> tuple(taps.shape), round(float(taps[0].sum()), 12)
    ((3, 7), 1.0)
    """
    widest = int(half_width.max()) if isinstance(half_width, Tensor) else half_width
    x = torch.arange(-widest, widest + 1, dtype=sigma.dtype, device=sigma.device)
    scaled = x / (sigma.unsqueeze(-1) * math.sqrt(2))
    gauss = torch.exp(-(scaled**2))
    if isinstance(half_width, Tensor):
        gauss = gauss * (x.abs() <= half_width.unsqueeze(-1))
    gauss = gauss / gauss.sum(-1, keepdim=True)
    # sigma^n cancels against the 1 / sigma^n of the derivative
    return torch.stack([gauss * (-1 / math.sqrt(2)) ** n * hermite(n, scaled) for n in range(order + 1)], dim=-2)


def jet_basis(taps: Tensor) -> Tensor:
    """Join one-dimensional taps to the two-dimensional basis functions of the N-jet (eq. 9 of [1]_: separable).

    Parameters
    ----------
    taps : Tensor, shape (*scales, N + 1, k)
        From `gaussian_taps`.

    Returns
    -------
    Tensor, shape (*scales, F, k, k)
        Basis functions in the order of `basis_orders`; rows are y, columns x.

    References
    ----------
    .. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.

    Examples
    --------
    >>> tuple(jet_basis(gaussian_taps(torch.tensor(1.0), 2, 3)).shape)
    (6, 7, 7)
    """
    orders = basis_orders(taps.shape[-2] - 1)
    along_y = taps[..., [i for i, _ in orders], :]
    along_x = taps[..., [j for _, j in orders], :]
    return along_y.unsqueeze(-1) * along_x.unsqueeze(-2)
