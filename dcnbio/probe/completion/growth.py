"""How fast differences between maps grow along the flow, by direction: those of h, and what the next norm reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["Growth", "growth_rates"]

EPSILON = 1e-5  # as the norms have it


def inner(a: Tensor, b: Tensor) -> Tensor:
    """Give the inner product of each image's maps, in float64."""
    return (a.double() * b.double()).flatten(1).sum(1)


@dataclass(frozen=True)
class Growth:
    """Growth rates of a difference v from a map h, per solver time, shape (n,) each.

    Attributes
    ----------
    raw : Tensor
        d log|v| / dt of a small difference of that direction.
    read : Tensor
        The same of z(h + v) - z(h), z being h normalised group by group, for a small v.
    whole : Tensor
        d log|z(h + v) - z(h)| / dt of the difference as large as it is.
    """

    raw: Tensor
    read: Tensor
    whole: Tensor


def normalised(h: Tensor, groups: int) -> Tensor:
    """Take each group's mean away and divide by its standard deviation, by rules that can be differentiated twice."""
    rows = h.reshape(len(h), groups, -1)
    centred = rows - rows.mean(2, keepdim=True)
    return (centred / torch.sqrt(centred.square().mean(2, keepdim=True) + EPSILON)).reshape(h.shape)


def along(
    function: Callable[..., Tensor], at: tuple[Tensor, ...], direction: tuple[Tensor, ...]
) -> tuple[Tensor, Tensor]:
    """Give a function's value and its derivative along a direction."""
    with warnings.catch_warnings():
        # torch compiles its own rules at the first use, by a way that it warns of itself
        warnings.simplefilter("ignore", DeprecationWarning)
        found = torch.func.jvp(function, at, direction)
    return found[0], found[1]


def growth_rates(field: nn.Module, t: float, h: Tensor, difference: Tensor, groups: int) -> Growth:
    """Give the growth rates of a difference between maps, of h itself and on group-normalised maps.

    With J the Jacobian of f(t, h) and w = Dz(h) v: v.Jv / v.v; w.w' / w.w, w' the change of w as h moves with f and v
    with Jv; and the same of the whole z(h + v) - z(h), both of which move with f.

    Parameters
    ----------
    field : nn.Module
        f(t, h), such that each image's slope depends on its own maps alone.
    t : float
        Solver time.
    h, difference : Tensor, shape (n, c, y, x)
    groups : int
        Of channels, which the norm that reads h divides by their own standard deviations.

    Returns
    -------
    Growth
        NaN where there is no difference.

    Notes
    -----
    Growth of h against the spread of all channels together says little of what the next layer reads, which divides
    every group by its own: a drift that grows in one channel alone shrinks no other.

    Examples
    --------
    >>> class Growing(nn.Module):
    ...     def forward(self, t, h):
    ...         return 2 * h
    >>> h, v = torch.randn(2, 1, 2, 3, 3, generator=torch.Generator().manual_seed(0)).double()
    >>> found = growth_rates(Growing(), 0.0, h, v, groups=2)
    >>> round(found.raw.item(), 6), abs(round(found.read.item(), 3)), abs(round(found.whole.item(), 3))
    (2.0, 0.0, 0.0)
    """
    time = torch.tensor(t, dtype=h.dtype)
    h, other = h.contiguous(), (h + difference).contiguous()
    slope, moved = along(lambda state: field(time, state), (h,), (difference,))
    now, here, here_moves, moved = (part.double() for part in (difference, h, slope, moved))

    def z(state: Tensor) -> Tensor:
        return normalised(state, groups)

    def small(state: Tensor, change: Tensor) -> Tensor:
        return along(z, (state,), (change,))[1]

    read, read_moves = along(small, (here, now), (here_moves, moved))
    pairs = [along(z, (maps.double(),), (moves.double(),)) for maps, moves in ((other, field(time, other)), (h, slope))]
    whole, whole_moves = (first - second for first, second in zip(*pairs, strict=True))
    return Growth(
        inner(now, moved) / inner(now, now),
        inner(read, read_moves) / inner(read, read),
        inner(whole, whole_moves) / inner(whole, whole),
    )
