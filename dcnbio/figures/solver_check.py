"""Solver check: how far h(T) lies from the tightest solve, against the evaluations that each solver takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.decade_axis import decade_axis
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import colour
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["SOLVER_CHECK"]

PER_BLOCK = ("end_change", "nfe")
MARKS = "osx^+Dv"


def rows_of(result: Any) -> list[Mapping[str, Any]]:
    """Read the solvers of a check: its Dataset, or the JSON that the command prints.

    Raises
    ------
    InputError
        If it is neither.
    """
    if isinstance(result, Mapping) and not isinstance(result, xr.Dataset | xr.DataTree) and "solvers" in result:
        return list(result["solvers"])
    data = result.to_dataset() if isinstance(result, xr.DataTree) else result
    if not isinstance(data, xr.Dataset) or "end_change" not in data:
        raise InputError("this is no solver check; give what dcnbio check-solver --json prints.")
    names = ("solver", "method", "tolerance", *PER_BLOCK)
    return [{name: data[name].values[i].tolist() for name in names} for i in range(data.sizes["solver"])]


def about(result: Any, name: str) -> Any:
    """Read what a check says of itself."""
    return result.get(name) if isinstance(result, Mapping) and "solvers" in result else result.attrs.get(name)


def solver_check_table(result: Any) -> Table:
    """List evaluations and the change of h(T) of every solver, per block; the reference itself is left out.

    Parameters
    ----------
    result : xarray.Dataset or mapping
        From `dcnbio.probe.solver_check.check_solver`, or the JSON of ``dcnbio check-solver --json``.
    """
    reference = str(about(result, "reference"))
    return table_of(
        {
            "panel": f"block {block}",
            "series": str(row["method"]),
            "solver": str(row["solver"]),
            "nfe": float(nfe),
            "change_percent": 100 * float(change),
        }
        for row in rows_of(result)
        if row["solver"] != reference
        for block, (nfe, change) in enumerate(zip(row["nfe"], row["end_change"], strict=True), 1)
        if change is not None and np.isfinite(change) and change > 0
    )


def draw_block(axes: Axes, own: Table, series: list[str]) -> None:
    """Draw one block: a mark per solver, those of one method joined; open marks, so that none hides another."""
    for name in unique(own, "series"):
        line, shade = own[own["series"] == name].sort_values("nfe", kind="stable"), colour(series.index(name))
        axes.plot(line["nfe"], line["change_percent"], "-", color=shade, lw=0.8, zorder=1)
        axes.plot(line["nfe"], line["change_percent"], mark(series, name), **look(shade), zorder=3)
    # a mark on the frame would be cut
    axes.margins(0.08)
    decade_axis(axes, "x")
    decade_axis(axes, "y")
    axes.set_xlabel("NFE (evaluations)")
    axes.set_ylabel("Change of h(T) (%)")


def mark(series: list[str], name: str) -> str:
    """Give a method's mark."""
    return MARKS[series.index(name) % len(MARKS)]


def look(shade: str) -> dict[str, Any]:
    """Give the look of marks."""
    return {"color": shade, "mfc": "none", "mew": 0.9, "ms": 4.5, "ls": "none"}


@styled
def draw_solver_check(table: Table) -> Figure:
    """Draw one panel per block.

    Parameters
    ----------
    table : pandas.DataFrame
        `solver_check_table`.
    """
    panels, series = unique(table, "panel"), unique(table, "series")
    figure = new_figure(2.5, columns=2)
    grid = figure.subplots(1, max(len(panels), 2), squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        draw_block(axes, table[table["panel"] == panel], series)
        axes.set_title(panel, loc="left")
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles = [grid[0].plot([], [], mark(series, name), **look(colour(series.index(name))))[0] for name in series]
    # fixed-step methods of equal cost lie so close that names beside them would cover each other
    page_legend(figure, handles, series, handletextpad=0.1)
    return figure


def solver_check_caption(result: Any) -> str:
    """Say n, and what solvers are compared with."""
    return (
        f"Change of h(T), |h(T) - reference| / |reference|, median over n = {int(about(result, 'n'))} images, against "
        "the evaluations each solver takes (mean over images), of one network. The reference, "
        f"{about(result, 'reference')}, is numerical too: that tighter solves approach it is what speaks for it. "
        "Marks of a method are its tolerances, looser to the left; methods of fixed steps have one. A solver that "
        "agrees with the reference exactly has no place on a logarithmic axis and is not drawn. Marks are medians: "
        "there is no error bar."
    )


SOLVER_CHECK = FigureKind(
    "solver_check",
    "solver_check",
    solver_check_table,
    draw_solver_check,
    solver_check_caption,
    {
        "panel": ("block", "1"),
        "series": ("method", "1"),
        "solver": ("method with its tolerance or steps", "1"),
        "nfe": ("evaluations of the block's vector field, mean over images", "1"),
        "change_percent": ("|h(T) - reference| / |reference|, median over images", "%"),
    },
)
