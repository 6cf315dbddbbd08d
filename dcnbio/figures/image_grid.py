"""Maps side by side: axes without ticks, and one colour bar with its unit."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

__all__ = ["colour_bar", "dress_map"]


def dress_map(axes: Axes) -> None:
    """Take ticks and frame away, and keep the labels."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(False)


def colour_bar(figure: Figure, drawn: ScalarMappable, axes: Sequence[Axes], label: str) -> None:
    """Add a bar to the right of some axes that says what colours mean."""
    bar = figure.colorbar(drawn, ax=list(axes), shrink=0.7, aspect=18, pad=0.02)
    bar.outline.set_linewidth(0.4)
    bar.set_label(label, labelpad=4)
    bar.ax.locator_params(axis="y", nbins=5)
