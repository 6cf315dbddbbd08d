"""Solver check: evaluations per block, and the steps the solver took along the path."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.chosen_maps import stimuli_of
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import block_title
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import BLACK, colour, tint
from dcnbio.figures.recorded_case import recorded_case
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.zero_axis import zero_axis

__all__ = ["SOLVER_WORK"]

MOST_IMAGES = 50


def solver_work_table(recording: xr.DataTree) -> Table:
    """List evaluations of every image and block, and accepted steps with the time each reached.

    Parameters
    ----------
    recording : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`.

    Raises
    ------
    InputError
        If no block was solved in steps.
    """
    rows = []
    for name, node in recording.children.items():
        data = node.to_dataset()
        stimuli = stimuli_of(recording)
        counts = zip(stimuli, data["nfe"].values, data["rejected"].values, strict=True)
        rows += [
            {
                "panel": "work",
                "block": name,
                "stimulus": int(s),
                "time": float("nan"),
                "value": float(n),
                "rejected": int(r),
            }
            for s, n, r in counts
        ]
        for stimulus, ends in zip(stimuli[:MOST_IMAGES], data["step_time"].values, strict=False):
            reached = ends[np.isfinite(ends)]
            steps = np.diff(reached, prepend=0.0)
            rows += [
                {
                    "panel": "steps",
                    "block": name,
                    "stimulus": int(stimulus),
                    "time": float(t),
                    "value": float(s),
                    "rejected": 0,
                }
                for t, s in zip(reached, steps, strict=True)
            ]
    if not any(row["panel"] == "steps" for row in rows):
        raise InputError("no block of this recording was solved in steps; a network of residual blocks has no solver.")
    return table_of(rows)


@styled
def draw_solver_work(table: Table) -> Figure:
    """Draw evaluations of each image by block, and step sizes along the path.

    Parameters
    ----------
    table : pandas.DataFrame
        `solver_work_table`.
    """
    blocks = unique(table, "block")
    figure = new_figure(2.1, columns=2)
    grid = figure.subplots(1, 1 + len(blocks), squeeze=False).ravel()
    work = table[table["panel"] == "work"]
    for place, block in enumerate(blocks):
        values = np.sort(work[work["block"] == block]["value"].to_numpy())
        # side by side in order of size, so that equal counts are seen
        across = place + 0.6 * (np.arange(values.size) - (values.size - 1) / 2) / max(values.size, 2)
        grid[0].plot(across, values, "o", color=colour(place), ms=2, mec="none")
    grid[0].set_xticks(range(len(blocks)), [block.removeprefix("block") for block in blocks])
    grid[0].set_xlim(-0.5, len(blocks) - 0.5)
    zero_axis(grid[0], work["value"])
    grid[0].set_xlabel("Block (number)")
    grid[0].set_ylabel("NFE (evaluations)")
    steps = table[table["panel"] == "steps"]
    for place, (axes, block) in enumerate(zip(grid[1:], blocks, strict=True)):
        own = steps[steps["block"] == block]
        for stimulus in unique(own, "stimulus"):
            line = own[own["stimulus"] == stimulus]
            axes.plot(line["time"], line["value"], "-", color=tint(colour(place), 0.4), lw=0.5)
        axes.plot(own["time"], own["value"], "o", color=colour(place), ms=1.8, mec="none")
        if not len(own):
            axes.text(0.5, 0.5, "no steps", transform=axes.transAxes, ha="center", color=BLACK)
        axes.set_title(block_title(block), loc="left")
        zero_axis(axes, own["value"])
        axes.set_xlabel("t (solver time)")
        axes.set_ylabel("Step (solver time)")
    return figure


def solver_work_caption(recording: xr.DataTree) -> str:
    """Say n, and whose steps they are."""
    n = recording.sizes["stimulus"]
    data = next(iter(recording.children.values())).to_dataset()
    batch = data.attrs.get("nfe_per") == "batch"
    whose = (
        "Steps were shared by batches of images, so a count belongs to a batch and is repeated for each of its images"
        if batch
        else "Each image had steps of its own"
    )
    rejected = [f"{block_title(name)} {int(node['rejected'].sum())}" for name, node in recording.children.items()]
    return (
        f"Left, evaluations of the vector field (NFE) by block, n = {n} images, a point each, side by side in order of "
        "size. Right, size of each accepted step against the time it reached, a line per image (the first "
        f"{min(n, MOST_IMAGES)}).{recorded_case(recording)} {whose}. A last step may reach beyond T, where h(T) is "
        f"interpolated within it. Rejected steps in all: {', '.join(rejected)}. Points are single images: there is no "
        "error bar."
    )


SOLVER_WORK = FigureKind(
    "solver_work",
    "recording",
    solver_work_table,
    draw_solver_work,
    solver_work_caption,
    {
        "panel": ("work: evaluations; steps: accepted steps", "1"),
        "block": ("block", "1"),
        "stimulus": ("index of the image in its source", "1"),
        "time": ("time the step reached, nan for work", "solver time"),
        "value": ("evaluations, or size of the step", "1 or solver time"),
        "rejected": ("rejected steps, for work", "1"),
    },
)
