"""Names at the ends of lines, in place of a legend, moved apart where they would overlap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

__all__ = ["label_end", "spaced", "spread_labels"]

MARK = "end label"
GAP = 1.05  # of a line's height, from one label to the next


def label_end(axes: Axes, x: float, y: float, text: str, shade: str) -> None:
    """Name a line at its end, to the right of it, in its colour."""
    axes.annotate(
        text,
        (x, y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        ha="left",
        color=shade,
        gid=MARK,
        annotation_clip=False,
        # a thin line that passes behind a name would cross it out
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2},
        zorder=1.5,
    )


def spaced(wanted: npt.ArrayLike, gap: float) -> npt.NDArray[np.float64]:
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


def within(places: npt.NDArray[np.float64], gap: float, low: float, high: float) -> npt.NDArray[np.float64]:
    """Move ascending positions that are `gap` apart between two limits, as far as there is room.

    Examples
    --------
    >>> within(np.array([5.0, 8.0, 11.0]), 3.0, 0.0, 10.0).tolist()
    [4.0, 7.0, 10.0]
    """
    steps = gap * np.arange(places.size)
    upper = np.minimum(places, high - steps[::-1])
    return np.asarray(np.maximum(upper, low + steps), dtype=np.float64)


def spread_labels(figure: Figure) -> bool:
    """Move the labels of each axes apart, up and down; say whether there were any to move."""
    points, moved = 72 / figure.dpi, False
    for axes in figure.axes:
        labels = [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == MARK]
        if len(labels) < 2:
            continue
        ends = [float(axes.transData.transform(label.xy)[1]) * points for label in labels]
        order = np.argsort(ends, kind="stable")
        gap = GAP * max(label.get_window_extent().height for label in labels) * points
        height = axes.get_window_extent()
        limits = height.y0 * points + gap / 3, height.y1 * points - gap / 3
        places = within(spaced(np.asarray(ends)[order], gap), gap, *limits)
        for index, place in zip(order, places, strict=True):
            labels[index].set_position((4, place - ends[index]))
        moved = True
    return moved
