"""Where names of lines can stand: apart from each other, clear of markers, and off lines where that can be had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Surroundings", "box_at", "clear_place", "spaced", "within"]

Array = npt.NDArray[np.float64]
AWAY = 4.0  # points, from a line's end to its name
PAD = 1.2  # points, from a name to a marker


@dataclass(frozen=True)
class Surroundings:
    """What a name in an axes has to keep clear of, in points.

    Attributes
    ----------
    markers : float array [n, 3]
        Centre and radius of every marker.
    lines : float array [m, 2]
        Points of lines, about one point apart.
    frame : tuple of float
        Left, lower and upper edge of the axes; to the right there is room.
    """

    markers: Array
    lines: Array
    frame: tuple[float, float, float]


def spaced(wanted: npt.ArrayLike, gap: float) -> Array:
    """Move ascending positions as little as possible, in squares, so that neighbours are at least `gap` apart.

    Examples
    --------
    >>> spaced([0.0, 1.0, 10.0], 3.0).tolist()
    [-1.0, 2.0, 10.0]
    """
    blocks: list[list[float]] = []  # mean and count of positions less their least distance: pooled until ascending
    for number, position in enumerate(np.asarray(wanted, dtype=np.float64)):
        blocks.append([float(position) - number * gap, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, n), (other, m) = blocks[-2:]
            blocks[-2:] = [[(mean * n + other * m) / (n + m), n + m]]
    pooled = np.repeat([mean for mean, _ in blocks], [int(n) for _, n in blocks])
    return np.asarray(pooled + gap * np.arange(pooled.size), dtype=np.float64)


def within(places: Array, gap: float, low: float, high: float) -> Array:
    """Move ascending positions that are `gap` apart between two limits, as far as there is room.

    Examples
    --------
    >>> within(np.array([5.0, 8.0, 11.0]), 3.0, 0.0, 10.0).tolist()
    [4.0, 7.0, 10.0]
    """
    steps = gap * np.arange(places.size)
    upper = np.minimum(places, high - steps[::-1])
    return np.asarray(np.maximum(upper, low + steps), dtype=np.float64)


def box_at(end: Array, offset: tuple[float, float], size: tuple[float, float]) -> Array:
    """Give left, lower, right and upper edge of a name whose left edge's middle is at an offset from a line's end.

    Examples
    --------
    >>> box_at(np.array([10.0, 10.0]), (4, 0), (20, 8)).tolist()
    [14.0, 6.0, 34.0, 14.0]
    """
    left, middle = end[0] + offset[0], end[1] + offset[1]
    return np.array([left, middle - size[1] / 2, left + size[0], middle + size[1] / 2])


def touched(box: Array, markers: Array) -> int:
    """Count the markers that a box comes near.

    Examples
    --------
    >>> touched(np.array([0, 0, 10, 4.0]), np.array([[5, 2, 1.5], [12, 2, 1.5], [5, 9, 1.5]]))
    2
    """
    nearest = np.clip(markers[:, :2], box[:2], box[2:])
    distance = np.hypot(*(markers[:, :2] - nearest).T)
    return int((distance < markers[:, 2] + PAD).sum())


def covers(box: Array, others: Array) -> bool:
    """Say whether a box shares ink with one of others [n, 4]."""
    shared = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return bool((shared > 0.1).all(1).any())


def offsets(size: tuple[float, float], first: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """List places about a line's end: the first one, beside it up and down, above and below it, and left of it."""
    width, height = size
    yield first
    for step in (0.35, 0.7, 1.05, 1.4):
        yield AWAY, step * height
        yield AWAY, -step * height
    for across in (0.0, 0.5, 1.0):
        yield -across * width, height / 2 + AWAY
        yield -across * width, -height / 2 - AWAY
    for step in (0.0, 0.5, -0.5, 1.0, -1.0):
        yield -width - AWAY, step * height


def clear_place(
    end: Array, size: tuple[float, float], first: tuple[float, float], others: Array, around: Surroundings
) -> tuple[float, float]:
    """Choose where a name stands: its first place where that is clear, or the nearest that touches least.

    Parameters
    ----------
    end : float array [2]
        The line's end, points.
    size : tuple of float
        Width and height of the name, points.
    first : tuple of float
        Offset of the name from the end that is best where nothing is in the way.
    others : float array [n, 4]
        Boxes of the other names.
    around : Surroundings
    """
    left, low, high = around.frame

    def burden(offset: tuple[float, float]) -> float:
        box = box_at(end, offset, size)
        # in points of line: one that runs along a name strikes it out, one that goes through it is less bad
        crossed = float(((around.lines > box[:2]) & (around.lines < box[2:])).all(1).sum())
        struck = 2 * size[1] * bool(crossed) + 0.5 * crossed
        blocked = 100 * touched(box, around.markers) + 200 * covers(box, others) + struck
        if offset == first:
            return float(blocked)
        outside = box[0] < left or box[1] < low or box[3] > high
        # the farther a name is from its line's end, the less it is clear whose it is
        away = float(np.hypot(*(np.clip(end, box[:2], box[2:]) - end)))
        return float(blocked + 400 * outside + away + 0.3 * abs(offset[1]))

    return min(offsets(size, first), key=burden)
