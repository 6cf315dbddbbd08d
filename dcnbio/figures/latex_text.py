"""Text of figures as LaTeX takes it."""

from __future__ import annotations

import re

from matplotlib.figure import Figure
from matplotlib.text import Text

__all__ = ["latex_text", "prepare_for_latex"]

SPECIAL = {"%": r"\%", "_": r"\_", "#": r"\#", "&": r"\&", "²": "$^2$", "<": "$<$", ">": "$>$"}


def latex_text(text: str) -> str:
    r"""Escape what LaTeX reads as commands, outside of mathematics.

    Examples
    --------
    >>> print(latex_text("95 % of $\\sigma_1$, 30²"))
    95 \% of $\sigma_1$, 30$^2$
    """
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(
        part if part.startswith("$") and len(part) > 1 else "".join(SPECIAL.get(sign, sign) for sign in part)
        for part in parts
    )


def prepare_for_latex(figure: Figure) -> None:
    """Escape all texts of a figure that was just drawn."""
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text():
            text.set_text(latex_text(text.get_text()))
