"""Comparison with the primate: each effect with its interval, beside what it is compared with."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.comparison_rows import LIMITS
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import GREY, colour
from dcnbio.figures.result_claims import claims_of
from dcnbio.figures.table import Table, table_of

__all__ = ["PRIMATE_COMPARISON"]

SHOWN = 16
ACROSS = 2
NAN = float("nan")


def primate_comparison_table(primate: xr.DataTree) -> Table:
    """List the effects that exist as numbers, with intervals and controls.

    Parameters
    ----------
    primate : xarray.DataTree
        Result of ``dcnbio analyze primate``.

    Raises
    ------
    InputError
        If it claims no number.
    """
    rows = []
    for claim in claims_of(primate):
        if claim["estimate"] is None:
            continue
        low, high = claim["interval"] or (NAN, NAN)
        control = claim["control"]
        control_low, control_high = control["interval"] or (NAN, NAN)
        rows.append(
            {
                "effect": str(claim["name"]),
                "n": int(claim["n"]),
                "unit": str(claim["unit"]),
                "value": float(claim["estimate"]),
                "limit": LIMITS.get(claim.get("limit", ""), 0),
                "low": float(low),
                "high": float(high),
                "beside": str(control["name"]),
                "beside_value": NAN if control["estimate"] is None else float(control["estimate"]),
                "beside_low": float(control_low),
                "beside_high": float(control_high),
                "verdict": str(claim["conclusion"]),
            }
        )
    if not rows:
        raise InputError("this result claims no effect that is a number; its claims say why.")
    return table_of(rows[:SHOWN])


def draw_effect(axes: Axes, row: dict[str, float | str]) -> None:
    """Draw one effect above, what it is compared with below in grey, on a scale of their own."""
    for height, shade, names in (
        (1.0, colour(0), ("value", "low", "high")),
        (0.0, GREY, ("beside_value", "beside_low", "beside_high")),
    ):
        value, low, high = (float(row[name]) for name in names)
        if np.isfinite([low, high]).all():
            axes.plot([low, high], [height, height], "|-", color=shade, lw=1.0, ms=4)
        if np.isfinite(value):
            mark = {1: ">", -1: "<"}.get(int(row["limit"]) if names[0] == "value" else 0, "o")
            axes.plot(value, height, mark, color=shade, ms=3.5)
    axes.set_ylim(-0.7, 1.7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.15)
    axes.locator_params(axis="x", nbins=5)
    wide = int(current_page().venue.page / ACROSS * 72 / (0.55 * current_page().venue.small))
    name = str(row["effect"]) if str(row["effect"]).endswith(")") else f"{row['effect']} (1)"
    axes.set_xlabel("\n".join(textwrap.wrap(name, wide)), size=current_page().venue.small)


@styled
def draw_primate_comparison(table: Table) -> Figure:
    """Draw a small panel per effect.

    Parameters
    ----------
    table : pandas.DataFrame
        `primate_comparison_table`.
    """
    rows = table.to_dict("records")
    lines = -(-len(rows) // ACROSS)
    figure = new_figure(0.85 * lines + 0.3, columns=2)
    grid = figure.subplots(lines, ACROSS, squeeze=False).ravel()
    for axes, row in zip(grid, rows, strict=False):
        draw_effect(axes, row)
    for axes in grid[len(rows) :]:
        axes.set_visible(False)
    handles = [figure.axes[0].plot([], [], "o-", color=shade, ms=3.5)[0] for shade in (colour(0), GREY)]
    page_legend(figure, handles, ["network", "compared with"])
    return figure


def primate_comparison_caption(primate: xr.DataTree) -> str:
    """Say n, what bars are, and what each effect is compared with."""
    table = primate_comparison_table(primate)
    parts = [
        f"{row['effect']}, n = {row['n']:,} {row['unit']}, beside {row['beside']}" for row in table.to_dict("records")
    ]
    pointed = " Triangles point to where the truth lies, of which a limit alone is known." * bool(table["limit"].any())
    more = len([one for one in claims_of(primate) if one["estimate"] is not None]) - len(table)
    left = f" {more} further effects stand in the result's claims." if more else ""
    return (
        "Effects in the network (blue) and what they are compared with (grey), each on a scale of its own: "
        f"{'; '.join(parts)}.{left} Bars, 95 % intervals where they exist, over the unit named; a grey point without a "
        f"bar is a number without an interval.{pointed} The verdict of each stands in the table beside the figure."
    )


PRIMATE_COMPARISON = FigureKind(
    "primate_comparison",
    "primate",
    primate_comparison_table,
    draw_primate_comparison,
    primate_comparison_caption,
    {
        "effect": ("what was estimated, with its unit", "1"),
        "n": ("how many", "of unit"),
        "unit": ("of what", "1"),
        "value": ("estimate in the network", "of the effect"),
        "limit": ("1 where it is known to lie above that alone, -1 below, else 0", "1"),
        "low": ("lower 95 % limit", "of the effect"),
        "high": ("upper 95 % limit", "of the effect"),
        "beside": ("what it is compared with", "1"),
        "beside_value": ("the number it is compared with", "of the effect"),
        "beside_low": ("its lower limit", "of the effect"),
        "beside_high": ("its upper limit", "of the effect"),
        "verdict": ("conclusion", "1"),
    },
)
