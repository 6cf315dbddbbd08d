"""The page a figure is drawn for: its widths, text sizes and style, which hold while drawing and nowhere else."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.figures.direct_labels import spread_labels
from dcnbio.figures.fonts import choose_font
from dcnbio.figures.latex_text import prepare_for_latex
from dcnbio.figures.palette import BLACK, PALETTE
from dcnbio.figures.venues import Venue, find_venue

__all__ = ["Page", "current_page", "figure_of", "new_figure", "on_page", "page_style", "styled"]

P = ParamSpec("P")


@dataclass(frozen=True)
class Page:
    """A venue's page.

    Attributes
    ----------
    venue : Venue
    latex : bool
        Whether LaTeX sets the text.
    """

    venue: Venue
    latex: bool = False

    def settings(self) -> dict[str, Any]:
        """Give matplotlib's settings; whatever is not named has matplotlib's own default."""
        font = choose_font(self.venue).name
        serif = self.venue.fonts[0].startswith("Times")
        return {
            "font.family": [font],
            "font.size": self.venue.text,
            "mathtext.fontset": "stix" if serif else "dejavusans",
            "text.usetex": self.latex,
            **dict.fromkeys(("axes.titlesize", "axes.labelsize", "figure.titlesize"), self.venue.text),
            **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), self.venue.small),
            **dict.fromkeys(("axes.spines.top", "axes.spines.right", "axes.grid", "legend.frameon"), False),
            **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width", "patch.linewidth"), 0.6),
            **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 2.5),
            **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 1.5),
            "axes.prop_cycle": cycler(color=list(PALETTE)),
            "axes.edgecolor": BLACK,
            "axes.labelpad": 2.5,
            "axes.titlepad": 4.0,
            "lines.linewidth": 1.2,
            "lines.markersize": 3.5,
            "errorbar.capsize": 1.5,
            "image.interpolation": "none",
            "figure.constrained_layout.w_pad": 0.04,
            "figure.constrained_layout.h_pad": 0.03,
            "pdf.fonttype": 42,
            "ps.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "dcnbio",
            "savefig.bbox": None,
            "savefig.dpi": "figure",
        }


SCREEN = Page(find_venue("screen"))
CURRENT: ContextVar[Page] = ContextVar("CURRENT", default=SCREEN)


def current_page() -> Page:
    """Give the page that figures are drawn for now.

    Examples
    --------
    >>> current_page().venue.name
    'screen'
    """
    return CURRENT.get()


@contextlib.contextmanager
def page_style(page: Page) -> Iterator[None]:
    """Hold a page's style, and put the reader's own rcParams back after."""
    with mpl.rc_context():
        # the reader's settings would show through wherever a page says nothing
        mpl.rcdefaults()
        for name, value in page.settings().items():
            mpl.rcParams[name] = value  # type: ignore[index]
        yield


@contextlib.contextmanager
def on_page(venue: str | Venue, *, latex: bool = False) -> Iterator[Page]:
    """Draw figures for a venue's page.

    Parameters
    ----------
    venue : str or Venue
        "screen", "icml", "neurips", "cvpr", "plos", "nature", or your own.
    latex : bool
        Whether LaTeX sets the text; it has to be installed.

    Yields
    ------
    Page

    Examples
    --------
    >>> with on_page("nature") as page:
    ...     round(25.4 * new_figure(2.0).get_size_inches()[0])
    89
    """
    page = Page(find_venue(venue) if isinstance(venue, str) else venue, latex)
    token = CURRENT.set(page)
    try:
        with page_style(page):
            yield page
    finally:
        CURRENT.reset(token)


def new_figure(height: float, columns: int = 1) -> Figure:
    """Make a figure as wide as one column or as the page.

    Parameters
    ----------
    height : float
        Inches; cut to the page's.
    columns : int
        1, or 2 for the whole page.
    """
    venue = current_page().venue
    width = venue.column if columns == 1 else venue.page
    return Figure(figsize=(width, min(height, venue.tallest)), layout="constrained")


def figure_of(axes: Axes | None, height: float, columns: int = 1) -> tuple[Figure, Axes]:
    """Give the axes to draw into, and their figure: the reader's own, or those of a new figure."""
    if axes is None:
        figure = new_figure(height, columns)
        return figure, figure.add_subplot()
    root = axes.get_figure(root=True)
    if root is None:
        raise ValueError("axes belong to no figure")
    return root, axes


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a drawing take the current page's style."""

    @functools.wraps(draw)
    def drawn(*arguments: P.args, **options: P.kwargs) -> Figure:
        with page_style(current_page()):
            figure = draw(*arguments, **options)
            if current_page().latex:
                prepare_for_latex(figure)
            # matplotlib makes ticks when it needs them, and labels can be spread only where axes have their places
            figure.draw_without_rendering()
            # room for labels moves the axes, and with them the ends that labels belong to
            for _ in range(4):
                if not spread_labels(figure):
                    break
                figure.draw_without_rendering()
        return figure

    return drawn
