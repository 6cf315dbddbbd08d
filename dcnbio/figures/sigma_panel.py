"""One convolution's scales as a panel: bars, curves and numbers, and the legend of all panels."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from dcnbio.figures.octave_axis import octave_axis
from dcnbio.figures.page import current_page
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import BLACK, colour, tint
from dcnbio.figures.panel_title import panel_title
from dcnbio.figures.sigma_starts import draw_start
from dcnbio.figures.table import Table, unique

__all__ = ["add_legend", "draw_convolution"]

BARS = tint(colour(0), 0.35)
LEGEND = {
    "histogram": "filters",
    "fit": "log-normal fit",
    "start": "start, before training",
    "mean": "mean, 95 % interval",
}


def draw_convolution(axes: Axes, own: Table, titles: tuple[str, str], narrow: bool, last: bool) -> None:
    """Draw one convolution, its numbers under its name, which stands under its network's where that is given."""
    part = {name: own[own["part"] == name] for name in unique(own, "part")}
    bars = part["histogram"]
    half = float(part["bin"]["value"].iloc[0]) / 2
    left, right = bars["sigma_pixels"] * 2**-half, bars["sigma_pixels"] * 2**half
    axes.bar(left, bars["value"], right - left, align="edge", color=BARS, edgecolor="white", linewidth=0.3)
    if "fit" in part:
        axes.plot(part["fit"]["sigma_pixels"], part["fit"]["value"], color=colour(1))
    if "start" in part:
        draw_start(axes, part["start"])
    top = 1.08 * float(own[own["part"].isin(["histogram", "fit", "start"])]["value"].max())
    ends = [float(part[name]["sigma_pixels"].iloc[0]) for name in ("mean", "mean_low", "mean_high")]
    axes.plot(ends[1:], [top, top], "|-", color=BLACK, lw=1.0, ms=4)
    axes.plot(ends[0], top, "o", color=BLACK, ms=2.5)
    axes.set_ylim(0, 1.08 * top)
    octave_axis(axes, "x", 3 if narrow else 9)
    number = {name: float(part[name]["value"].iloc[0]) for name in ("distance", "distance_high", "skewness")}
    # above the panel: inside, curves would run through them on a narrow page
    notes = [f"n = {int(own['n'].iloc[0]):,}", f"skew {number['skewness']:.1f}"]
    notes = notes if narrow else [", ".join(notes)]
    notes.append(f"D {number['distance']:.3f} (< {number['distance_high']:.3f})")
    size = current_page().venue.small
    said = axes.annotate("\n".join(notes), (0, 1), (0, 2), "axes fraction", "offset points", va="bottom", size=size)
    said.set_linespacing(1.0)
    said.set_in_layout(last)  # over other panels it has room beside its own; within the layout it would take theirs
    panel_title(axes, *titles, pad=height_of(said) + 3, last=last)


def height_of(text: Text) -> float:
    """Give the height of a text in points."""
    root = text.get_figure(root=True)
    return float(text.get_window_extent().height) * 72 / (root.dpi if root is not None else 72)


def add_legend(figure: Figure, parts: list[str]) -> None:
    """Name what is drawn, and nothing else."""
    marks = {
        "histogram": Patch(facecolor=BARS),
        "fit": Line2D([], [], color=colour(1)),
        "start": Line2D([], [], color=BLACK, ls="--", lw=1.0),
        "mean": Line2D([], [], color=BLACK, ls="-", marker="|", lw=1.0, ms=4),
    }
    shown = [name for name in marks if name in parts]
    page_legend(figure, [marks[name] for name in shown], [LEGEND[name] for name in shown])
