"""Names at the ends of lines, in place of a legend, moved where they would overlap each other or a marker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Transform

from dcnbio.figures.label_places import AWAY, Array, Surroundings, box_at, clear_place, spaced, within

__all__ = ["label_end", "spread_labels"]

MARK = "end label"
NOTHING = ("", " ", "None", "none", None)
GAP = 1.05  # of a line's height, from one label to the next


def label_end(axes: Axes, x: float, y: float, text: str, shade: str) -> None:
    """Name a line at its end, to the right of it, in its colour."""
    axes.annotate(
        text,
        (x, y),
        xytext=(AWAY, 0),
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


def page_scale(axes: Axes) -> float:
    """Give points per pixel of the figure that axes are in."""
    root = axes.get_figure(root=True)
    return 72 / (root.dpi if root is not None else 72)


def in_points(places: npt.ArrayLike, transform: Transform, scale: float) -> Array:
    """Give points of a line on the page, in points, without those that are not drawn."""
    pairs = np.asarray(places, dtype=np.float64).reshape(-1, 2)
    on_page = np.asarray(transform.transform(pairs), dtype=np.float64) * scale
    return on_page[np.isfinite(on_page).all(1)]


def along(places: Array) -> Array:
    """Give points about one point apart along a line."""
    steps = np.hypot(*np.diff(places, axis=0).T)
    gone = np.append(0.0, np.cumsum(steps))
    at = np.linspace(0.0, gone[-1], int(gone[-1]) + 2)
    return np.stack([np.interp(at, gone, places[:, k]) for k in (0, 1)], axis=1)


def surroundings(axes: Axes) -> Surroundings:
    """Find the markers and lines of an axes, bars of errors among them."""
    scale = page_scale(axes)
    markers, lines = [np.empty((0, 3))], [np.empty((0, 2))]
    for line in [one for one in axes.lines if one.get_visible()]:
        places = in_points(line.get_xydata(), line.get_transform(), scale)
        if line.get_marker() not in NOTHING:
            radius = (line.get_markersize() + line.get_markeredgewidth()) / 2
            markers.append(np.column_stack([places, np.full(len(places), radius)]))
        if line.get_linestyle() not in NOTHING and len(places) > 1:
            lines.append(along(places))
    for bars in [one for one in axes.collections if isinstance(one, LineCollection)]:
        ends = [in_points(segment, bars.get_transform(), scale) for segment in bars.get_segments()]
        lines += [along(places) for places in ends if len(places) > 1]
    frame = axes.get_window_extent()
    edges = (frame.x0 * scale, frame.y0 * scale, frame.y1 * scale)
    return Surroundings(np.concatenate(markers), np.concatenate(lines), edges)


def side_by_side(ends: Array, widths: Array) -> list[list[int]]:
    """Part names into groups that stand above one another; a group is ordered from below."""
    groups: list[list[int]] = []
    reach = -np.inf
    for index in np.argsort(ends[:, 0], kind="stable"):
        if ends[index, 0] > reach:
            groups.append([])
        groups[-1].append(int(index))
        reach = max(reach, ends[index, 0] + AWAY + widths[index])
    return [sorted(group, key=lambda i: ends[i, 1]) for group in groups]


def places_of(ends: Array, sizes: Array, around: Surroundings) -> list[tuple[float, float]]:
    """Choose the offset of every name from its line's end: spread up and down, then moved off markers."""
    _, low, high = around.frame
    offsets = [(AWAY, 0.0)] * len(ends)
    for group in side_by_side(ends, sizes[:, 0]):
        gap = GAP * float(sizes[group, 1].max())
        heights = within(spaced(ends[group, 1], gap), gap, low + gap / 3, high - gap / 3)
        for index, height in zip(group, heights, strict=True):
            offsets[index] = (AWAY, float(height - ends[index, 1]) if len(ends) > 1 else 0.0)
    boxes = np.stack([box_at(*one) for one in zip(ends, offsets, sizes, strict=True)])
    for i in np.lexsort((-ends[:, 1], ends[:, 0])):
        others = np.delete(boxes, i, axis=0)
        offsets[i] = clear_place(ends[i], tuple(sizes[i]), offsets[i], others, around)
        boxes[i] = box_at(ends[i], offsets[i], tuple(sizes[i]))
    return offsets


def spread_labels(figure: Figure) -> bool:
    """Move the labels of each axes apart and off markers; say whether any moved."""
    scale, moved = 72 / figure.dpi, False
    for axes in figure.axes:
        labels = [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == MARK]
        if not labels:
            continue
        ends = np.array([axes.transData.transform(label.xy) for label in labels]) * scale
        extents = [label.get_window_extent() for label in labels]
        sizes = np.array([(extent.width, extent.height) for extent in extents]) * scale
        for label, offset in zip(labels, places_of(ends, sizes, surroundings(axes)), strict=True):
            moved |= not np.allclose(label.get_position(), offset, atol=0.05)
            label.set_position(offset)
    return moved
