"""Dashes for a line that would lie over another, so that both are seen where they coincide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["DASHES", "DASHES_MEAN", "Dashes", "times_hidden"]

Dashes = str | tuple[float, tuple[float, ...]]
DASHES: tuple[Dashes, ...] = ("-", (0, (3.5, 2.5)), (0, (1.2, 2.2)), (0, (5, 2, 1.2, 2)))
DASHES_MEAN = " A line is dashed where it would hide another."
NEAR = 0.012  # of the panel's height: about the width of a line


def coincide(one: tuple[npt.ArrayLike, npt.ArrayLike], other: tuple[npt.ArrayLike, npt.ArrayLike], near: float) -> bool:
    """Say whether two lines lie on each other from one of their common points to the next.

    Examples
    --------
    >>> flat, rising = ([0, 1, 2], [5, 5, 5]), ([0, 1, 2], [5, 5, 9])
    >>> coincide(flat, rising, 0.1), coincide(flat, ([0, 1, 2], [5, 7, 5]), 0.1)
    (True, False)
    """
    (x, y), (u, v) = (tuple(np.asarray(side, dtype=np.float64) for side in line) for line in (one, other))
    _, here, there = np.intersect1d(x, u, return_indices=True)
    close = np.abs(y[here] - v[there]) <= near
    return bool((close[1:] & close[:-1]).any())


def times_hidden(lines: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], height: float) -> list[int]:
    """Count how deep each line lies over others: 0 where it hides none; a number of `DASHES`.

    Parameters
    ----------
    lines : sequence of (x, y)
        In the order they are drawn in.
    height : float
        Of the panel, in units of y.

    Examples
    --------
    >>> at = [0, 1, 2]
    >>> times_hidden([(at, [5, 5, 5]), (at, [5, 5, 9]), (at, [1, 2, 3])], 10)
    [0, 1, 0]
    """
    chosen: list[int] = []
    for number, line in enumerate(lines):
        under = [chosen[k] for k in range(number) if coincide(lines[k], line, NEAR * height)]
        chosen.append(min(max(under) + 1, len(DASHES) - 1) if under else 0)
    return chosen
