"""What venues ask of figures: widths, fonts and sizes of text."""

from __future__ import annotations

from dataclasses import dataclass

from dcnbio.errors import InputError

__all__ = ["VENUES", "Venue", "find_venue"]

TIMES = ("Times New Roman", "Times", "Nimbus Roman", "TeX Gyre Termes", "Liberation Serif", "STIXGeneral")
ARIAL = ("Arial", "Helvetica", "Nimbus Sans", "TeX Gyre Heros", "Liberation Sans", "DejaVu Sans")
DEJAVU = ("DejaVu Sans",)


@dataclass(frozen=True)
class Venue:
    """A journal or conference.

    Attributes
    ----------
    name : str
    column, page : float
        Widths of a figure over one column and over the page, inches; equal where there is one column.
    tallest : float
        Largest height, inches.
    fonts : tuple of str
        The fonts it asks for, and after them the nearest that may be there, best first.
    wanted : int
        How many of `fonts` it asks for.
    text, small : float
        Size of labels, and of ticks and notes, points.
    formats : tuple of str
        What it takes, the best first.
    source : str
        Where its rules are.

    Examples
    --------
    >>> own = Venue("thesis", 5.9, 5.9, 9.0, DEJAVU, 1, 9, 8, ("pdf",), "my university")
    >>> own.page, VENUES["icml"].column
    (5.9, 3.25)
    """

    name: str
    column: float
    page: float
    tallest: float
    fonts: tuple[str, ...]
    wanted: int
    text: float
    small: float
    formats: tuple[str, ...]
    source: str


def millimetres(length: float) -> float:
    """Turn millimetres into inches."""
    return length / 25.4


VENUES = {
    venue.name: venue
    for venue in (
        Venue("screen", 4.5, 7.5, 11.0, DEJAVU, 1, 9, 8, ("png", "svg"), "dcnbio's own, for screens and reports"),
        Venue("icml", 3.25, 6.75, 9.0, TIMES, 2, 8, 7, ("pdf",), "icml.cc style file: columns of 3.25 inches"),
        Venue("neurips", 5.5, 5.5, 9.0, TIMES, 2, 9, 8, ("pdf",), "neurips.cc style file: text of 5.5 inches"),
        Venue("cvpr", 3.25, 6.875, 8.875, TIMES, 2, 8, 7, ("pdf",), "cvpr.thecvf.com style file of 2024"),
        Venue(
            "plos",
            millimetres(132),
            millimetres(190.5),
            millimetres(222.3),
            ARIAL,
            1,
            9,
            8,
            ("tiff", "eps"),
            "journals.plos.org/plosone/s/figures: 66.8 to 190.5 mm wide, text of 8 to 12 points",
        ),
        Venue(
            "nature",
            millimetres(89),
            millimetres(183),
            millimetres(170),
            ARIAL,
            2,
            7,
            6,
            ("pdf", "eps"),
            "research-figure-guide.nature.com: 89 and 183 mm, text of 5 to 7 points",
        ),
    )
}


def find_venue(name: str) -> Venue:
    """Give a venue by its name.

    Examples
    --------
    >>> find_venue("icml").column
    3.25
    >>> find_venue("nips")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: venue (--venue) is 'nips'; known are screen, icml, neurips, cvpr, plos, nature.
    """
    if name not in VENUES:
        raise InputError(f"venue (--venue) is {name!r}; known are {', '.join(VENUES)}.")
    return VENUES[name]
