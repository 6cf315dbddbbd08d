"""How fast differences between maps grow along the flow, direction by direction."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

__all__ = ["amplitude_growth", "growth_rate"]


def inner(a: Tensor, b: Tensor) -> Tensor:
    """Give the inner product of each image's maps, in float64."""
    return (a.double() * b.double()).flatten(1).sum(1)


def growth_rate(field: nn.Module, t: float, h: Tensor, direction: Tensor) -> Tensor:
    """Give d log|v| / dt = v.Jv / v.v, J the Jacobian of f(t, h) at h: one Jacobian-vector product.

    Parameters
    ----------
    field : nn.Module
        f(t, h), such that each image's slope depends on its own maps alone.
    t : float
        Solver time.
    h, direction : Tensor, shape (n, c, y, x)

    Returns
    -------
    float64 Tensor, shape (n,)
        Per solver time; negative where a difference shrinks. NaN where a direction is zero.

    Notes
    -----
    It is of small differences, at one moment. Maps grow too (`amplitude_growth`): what the next layer reads shrinks
    where the rate is below that of the amplitude.

    Examples
    --------
    >>> class Decay(nn.Module):
    ...     def forward(self, t, h):
    ...         return -3 * h
    >>> growth_rate(Decay(), 0.0, torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2)).tolist()
    [-3.0]
    """
    time = torch.tensor(t, dtype=h.dtype)
    with warnings.catch_warnings():
        # torch compiles its own rules at the first use, by a way that it warns of itself
        warnings.simplefilter("ignore", DeprecationWarning)
        moved: Tensor = torch.func.jvp(lambda state: field(time, state), (h,), (direction,))[1]
    return inner(direction, moved) / inner(direction, direction)


def amplitude_growth(field: nn.Module, t: float, h: Tensor, groups: int) -> Tensor:
    """Give d log s / dt, s the root mean square of h about each group's mean: by what the next norm divides.

    Examples
    --------
    >>> class Growing(nn.Module):
    ...     def forward(self, t, h):
    ...         return 2 * h
    >>> amplitude_growth(Growing(), 0.0, torch.tensor([1.0, 3.0]).reshape(1, 1, 1, 2), 1).tolist()
    [2.0]
    """
    slope = field(torch.tensor(t, dtype=h.dtype), h)
    centred, change = (centre(maps, groups) for maps in (h, slope))
    return inner(centred, change) / inner(centred, centred)


def centre(maps: Tensor, groups: int) -> Tensor:
    """Take each image's and group's mean away."""
    rows = maps.reshape(len(maps), groups, -1)
    return (rows - rows.mean(2, keepdim=True)).reshape(maps.shape)
