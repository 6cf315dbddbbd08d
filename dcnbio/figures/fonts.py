"""Which of a venue's fonts this machine has."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from matplotlib.font_manager import fontManager

from dcnbio.figures.venues import Venue

__all__ = ["ChosenFont", "choose_font"]


@dataclass(frozen=True)
class ChosenFont:
    """A font that is there.

    Attributes
    ----------
    name : str
    notice : str
        What a person should know where it is not the one the venue asks for; else empty.
    """

    name: str
    notice: str = ""


@functools.cache
def installed() -> frozenset[str]:
    """Name the fonts that matplotlib finds, its own among them."""
    return frozenset(fontManager.get_font_names())


def choose_font(venue: Venue) -> ChosenFont:
    """Choose the best of a venue's fonts that this machine has.

    Examples
    --------
    >>> from dcnbio.figures.venues import find_venue
    >>> choose_font(find_venue("screen"))
    ChosenFont(name='DejaVu Sans', notice='')
    """
    found = next((name for name in venue.fonts if name in installed()), "DejaVu Sans")
    wanted = venue.fonts[: venue.wanted]
    if found in wanted:
        return ChosenFont(found)
    return ChosenFont(
        found,
        f"{venue.name} asks for {' or '.join(wanted)}, which this machine does not have; {found} is used in its place, "
        f"so install {wanted[0]} for the final figures.",
    )
