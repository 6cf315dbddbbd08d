"""Refuses a drawing whose panels would be too low or too narrow to be read, and says what to do about it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec

from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.page import current_page

__all__ = ["LEAST", "readable", "smallest_side"]

P = ParamSpec("P")
LEAST = 15.0  # mm
MM = 25.4


def smallest_side(figure: Figure) -> float:
    """Give the least width or height of a figure's panels, when it was laid out.

    Returns
    -------
    float
        Millimetres.

    Examples
    --------
    >>> figure = Figure(figsize=(4, 2))
    >>> _ = figure.add_axes((0.1, 0.1, 0.5, 0.5))
    >>> round(smallest_side(figure), 1)
    25.4
    """
    width, height = figure.get_size_inches()
    places = [axes.get_position() for axes in figure.axes if axes.get_visible()]
    return MM * min(float(side) for at in places for side in (at.width * width, at.height * height))


def readable(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a drawing of panels that are all alike refuse where they have no room.

    Parameters
    ----------
    draw : callable
        That gives a figure which was laid out, as one that is ``styled`` does.

    Raises
    ------
    InputError
        By the drawing, if a panel is less than 15 mm wide or high.
    """

    @functools.wraps(draw)
    def drawn(*arguments: P.args, **options: P.kwargs) -> Figure:
        with warnings.catch_warnings():
            # matplotlib leaves axes that overlap where nothing of them would be left
            warnings.filterwarnings("ignore", "constrained_layout not applied")
            figure = draw(*arguments, **options)
        side, venue = smallest_side(figure), current_page().venue
        if side < LEAST:
            count = sum(axes.get_visible() for axes in figure.axes)
            raise InputError(
                f"{count} panels have no room on a page of {venue.name} ({MM * venue.page:.0f} x "
                f"{MM * venue.tallest:.0f} mm): one would be {max(side, 0):.0f} mm wide or high, and {LEAST:g} can be "
                "read; analyse fewer networks at a time, or draw them for another venue (--venue)."
            )
        return figure

    return drawn
