"""Names at the ends of lines stand beside them where there is room, and elsewhere where a marker or a name is."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import numpy as np
import pytest

from dcnbio.figures.direct_labels import label_end, spread_labels


def drawn(points, others=()):
    """Draw points with names into one axes, and others without."""
    figure = mpl.figure.Figure(figsize=(4, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    for number, (x, y) in enumerate(points):
        axes.plot(x, y, "o", ms=4)
        label_end(axes, x, y, f"name {number}", "black")
    for x, y in others:
        axes.plot(x, y, "o", ms=4)
    figure.draw_without_rendering()
    for _ in range(4):
        spread_labels(figure)
        figure.draw_without_rendering()
    return figure, axes


def boxes(axes):
    return [text.get_window_extent() for text in axes.texts]


def distances(axes):
    """Pixels from every name to every marker's centre: names down, markers across."""
    centres = np.concatenate([line.get_transform().transform(line.get_xydata()) for line in axes.lines])
    return np.array(
        [
            [np.hypot(x - np.clip(x, b.x0, b.x1), y - np.clip(y, b.y0, b.y1)) for x, y in centres]
            for b in boxes(axes)
        ]
    )  # fmt: skip


def test_a_name_with_room_stands_to_the_right_at_the_height_of_its_end():
    _, axes = drawn([(3, 5)])
    assert axes.texts[0].get_position() == (4, 0)


def test_a_name_gives_way_to_a_marker_and_stays_the_nearest_to_its_own():
    figure, axes = drawn([(3, 5)], others=[(3.8, 5.1)])
    found = distances(axes)[0]
    assert found.min() > 2 * figure.dpi / 72
    assert found[0] < 12 * figure.dpi / 72


@pytest.mark.parametrize("seed", range(12))
def test_no_name_touches_a_marker_or_another_name_in_a_crowd(seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(1, 9, (6, 2))
    figure, axes = drawn(points, others=rng.uniform(1, 9, (6, 2)))
    assert distances(axes).min() > 2 * figure.dpi / 72
    for one, other in itertools.combinations(boxes(axes), 2):
        shared = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(shared) < 0.5


def test_names_at_one_end_are_spread_in_the_order_of_their_ends():
    _, axes = drawn([(9, 5.0), (9, 5.1), (9, 5.2)])
    heights = [(box.y0, box.y1) for box in boxes(axes)]
    assert heights[0][1] <= heights[1][0] + 0.5
    assert heights[1][1] <= heights[2][0] + 0.5
