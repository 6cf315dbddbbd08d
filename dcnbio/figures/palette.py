"""Colours that readers with any kind of colour vision tell apart.

References
----------
.. [1] Okabe, M. and Ito, K. (2008). Color Universal Design. https://jfly.uni-koeln.de/color/
.. [2] Wong, B. (2011). Points of view: Color blindness. Nature Methods 8, 441. doi:10.1038/nmeth.1618.
"""

from __future__ import annotations

__all__ = ["BLACK", "DIVERGING", "GREY", "PALETTE", "SEQUENTIAL", "colour", "stroke", "tint"]

BLACK = "#000000"
GREY = "#7f7f7f"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK)
"""Okabe and Ito's colours without yellow, which is too light for lines on white, the darkest first."""
DIVERGING = "PuOr_r"
"""Map of signed values, white at 0."""
SEQUENTIAL = "cividis"
"""Map of ordered values."""


def colour(number: int) -> str:
    """Give the colour of the series of that number, from 0; after the last the first comes again.

    Parameters
    ----------
    number : int
        From 0.

    Returns
    -------
    str
        A hexadecimal colour of Wong's palette (doi:10.1038/nmeth.1618).

    Examples
    --------
    >>> colour(0), colour(7) == colour(0)
    ('#0072B2', True)
    """
    return PALETTE[number % len(PALETTE)]


def stroke(number: int) -> str:
    """Give the stroke of the line of that number, from 0: another one where its colour comes again.

    Parameters
    ----------
    number : int
        From 0.

    Returns
    -------
    str
        A line style of matplotlib.

    Examples
    --------
    >>> stroke(0), stroke(7), stroke(14), stroke(21)
    ('-', '--', ':', '-.')
    """
    return ("-", "--", ":", "-.")[number // len(PALETTE) % 4]


def tint(shade: str, amount: float) -> str:
    """Mix a colour with white: a light colour without transparency, which EPS does not have.

    Parameters
    ----------
    shade : str
        "#rrggbb".
    amount : float
        Share of the colour, 0 (white) to 1.

    Examples
    --------
    >>> tint("#0072B2", 0.25), tint("#0072B2", 1.0)
    ('#bfdcec', '#0072b2')
    """
    parts = [int(shade[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - amount * (255 - part)):02x}" for part in parts)
