"""Figures of results: one file per figure, each a tidy table, a drawing made from that table alone, and a caption.

Nothing here computes statistics: numbers, intervals and controls come from recordings and analyses. A drawing never
touches the reader's own rcParams. `dcnbio.figures.plot` draws a result by the figure's name; `dcnbio figures` writes
figures in a journal's width with their data and captions.

Examples
--------
>>> from dcnbio.figures import figure_kinds
>>> "sigma_depth" in figure_kinds()
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcnbio.figures.catalogue import figure_kind, figure_kinds, plot
    from dcnbio.figures.page import on_page
    from dcnbio.figures.venues import VENUES, Venue

PLACES = {
    "VENUES": "dcnbio.figures.venues",
    "Venue": "dcnbio.figures.venues",
    "figure_kind": "dcnbio.figures.catalogue",
    "figure_kinds": "dcnbio.figures.catalogue",
    "on_page": "dcnbio.figures.page",
    "plot": "dcnbio.figures.catalogue",
}

__all__ = ["VENUES", "Venue", "figure_kind", "figure_kinds", "on_page", "plot"]


def __getattr__(name: str) -> Any:
    """Import matplotlib only when a figure is wanted."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
