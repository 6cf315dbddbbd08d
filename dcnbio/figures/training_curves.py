"""Training: loss and accuracy, or error, evaluations and scales of a run, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.hidden_lines import DASHES, DASHES_MEAN, times_hidden
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import block_title
from dcnbio.figures.octave_axis import octave_axis
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import GREY, colour, stroke
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.training_run import TrainingRun

__all__ = ["TRAINING_CURVES"]


def panel_of(column: str) -> tuple[str, str, float] | None:
    """Give the panel, series and factor of a column of metrics.csv, or None where it is not drawn.

    Examples
    --------
    >>> panel_of("log2_sigma/blocks.0.field.conv2"), panel_of("held_out_accuracy"), panel_of("step")
    (('sigma', '1.2', 1.0), ('accuracy', 'held out', 100.0), None)
    >>> panel_of("nfe_block1")
    ('nfe', 'block 1', 1.0)
    """
    fixed = {
        "loss": ("loss", "training", 1.0),
        "held_out_loss": ("loss", "held out", 1.0),
        "mse": ("mse", "training", 1.0),
        "held_out_mse": ("mse", "held out", 1.0),
        "accuracy": ("accuracy", "training", 100.0),
        "held_out_accuracy": ("accuracy", "held out", 100.0),
    }
    if column in fixed:
        return fixed[column]
    if column.startswith("nfe_"):
        return "nfe", block_title(column.removeprefix("nfe_")), 1.0
    if column.startswith("log2_sigma/"):
        parts = column.removeprefix("log2_sigma/").split(".")
        if parts[0] == "blocks":
            return "sigma", f"{int(parts[1]) + 1}.{parts[-1].removeprefix('conv')}", 1.0
        return "sigma", f"tr. {int(parts[1]) + 1}" if parts[0] == "transitions" else parts[0], 1.0
    return None


def training_curves_table(run: TrainingRun) -> Table:
    """List loss, accuracy, evaluations and scales against passes.

    Parameters
    ----------
    run : TrainingRun
        `read_run` of the folder.
    """
    rows, before = [], 0
    for number, part in enumerate(run.parts(), 1):
        for line in part:
            about = {
                "part": number,
                "epoch": int(line["epoch"]),
                "step": int(line["step"]),
                "passes": before + int(line["passes"]),
            }
            rows += [{**about, **value} for value in values_of(line)]
        before += int(part[-1]["passes"])
    order = ["panel", "series", "part", "epoch", "step", "passes", "value"]
    table = table_of({name: row[name] for name in order} for row in rows)
    return table if is_solved(table) else table[table["panel"] != "nfe"].reset_index(drop=True)


def is_solved(table: Table) -> bool:
    """Say whether a solver evaluated anything more than once; a residual block is evaluated once and has no solver."""
    work = table[table["panel"] == "nfe"]
    blocks, back = work[work["series"].str.startswith("block")], work[work["series"] == "backward"]
    return blocks.empty or bool((blocks["value"] > 1).any() or (back["value"] > 0).any())


def values_of(line: Mapping[str, str]) -> list[dict[str, Any]]:
    """List what is drawn of one epoch."""
    found = []
    for column, text in line.items():
        place = panel_of(column)
        if place is not None and text != "":
            panel, series, factor = place
            value = 2 ** float(text) if panel == "sigma" else factor * float(text)
            found.append({"panel": panel, "series": series, "value": value})
    return found


LABELS = {
    "loss": "Loss (nats)",
    "mse": "Mean square error",
    "accuracy": "Accuracy (%)",
    "nfe": "NFE per step (evaluations)",
    "sigma": "Scale $\\sigma$ (pixels)",
}


def draw_panel(axes: Axes, own: Table, panel: str) -> None:
    """Draw one panel, its lines named at their ends; a dotted line where a run went on from another's weights."""
    for end in own.groupby("part")["passes"].max().to_list()[:-1]:
        axes.axvline(end / 1000, color=GREY, lw=0.8, ls=":", zorder=0)
    names = unique(own, "series")
    lines = [own[own["series"] == series] for series in names]
    points = [(line["passes"].to_numpy() / 1000, line["value"].to_numpy()) for line in lines]
    over = times_hidden(points, float(own["value"].max() - own["value"].min()))
    for number, (x, y) in enumerate(points):
        style = DASHES[over[number]] if over[number] else stroke(number)
        axes.plot(x, y, color=colour(number), marker="o" if len(x) < 30 else "None", ls=style, ms=2)
        label_end(axes, x[-1], y[-1], names[number], colour(number))
    axes.margins(x=0.02)
    if panel == "sigma":
        octave_axis(axes, "y")
    elif panel not in ("loss", "mse") and own["value"].max() > 0:
        axes.set_ylim(0, 1.08 * float(own["value"].max()))
    axes.set_xlabel("Training (thousand images)")
    axes.set_ylabel(LABELS[panel])


@styled
def draw_training_curves(table: Table) -> Figure:
    """Draw panels of loss and accuracy or of the mean square error, of evaluations and scales; those the run has.

    Parameters
    ----------
    table : pandas.DataFrame
        `training_curves_table`.
    """
    panels = [panel for panel in LABELS if (table["panel"] == panel).any()]
    lines = -(-len(panels) // 2)
    figure = new_figure(1.9 * lines, columns=2)
    grid = figure.subplots(lines, 2, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        draw_panel(axes, table[table["panel"] == panel], panel)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    return figure


def training_curves_caption(run: TrainingRun) -> str:
    """Say n, and on what images."""
    parts, last = run.parts(), run.rows[-1]
    held = [f"{int(n):,}" for n in dict.fromkeys(row.get("held_out_n") or "0" for row in run.rows)]
    measured = "mean square errors (RGB in [0, 1])" if "mse" in last else "loss and accuracy"
    solvers = list(dict.fromkeys(row["solver"] for row in run.rows if row.get("solver")))
    seen = sum(int(part[-1]["passes"]) for part in parts)
    shown = set(training_curves_table(run)["panel"])
    trained = f" and the training solver ({', '.join(solvers)})" if "nfe" in shown else ""
    solved = ", with dopri5 at tolerance 1e-3" if "nfe" in shown else ""
    panels = "NFE, evaluations per training step, forward and backward. " if "nfe" in shown else ""
    if "sigma" in shown:
        panels += "Scales of SRF layers as block.convolution, geometric means where each filter has its own. "
    chain = (
        f" It went on {len(parts) - 1} time{'s' if len(parts) > 2 else ''} from the weights of a run before it, with a "
        "schedule of its own: dotted lines. Recipes differ between parts (smoothed labels raise the loss, moved images "
        "too), so that losses are compared within a part."
        if len(parts) > 1
        else ""
    )
    return (
        f"Training of one network (n = 1 run, {run.name}), a point per epoch, {len(run.rows)} epochs, "
        f"{seen:,} images seen.{chain} Training {measured} are means over the images of an epoch as "
        f"they came, with the weights of the moment{trained}; held-out values "
        f"are over {' or '.join(held)} images that are not trained on{solved}. {panels}One run has no "
        f"error bar.{DASHES_MEAN}"
    )


TRAINING_CURVES = FigureKind(
    "training_curves",
    "run",
    training_curves_table,
    draw_training_curves,
    training_curves_caption,
    {
        "panel": ("loss, accuracy, mse (mean square error), nfe or sigma", "1"),
        "series": ("training or held out; pass of the solver; layer", "1"),
        "part": ("run, from 1; a later one went on from the weights of the one before", "1"),
        "epoch": ("epochs of this run done", "1"),
        "step": ("training steps of this run done", "1"),
        "passes": ("images seen, those of the runs before included", "1"),
        "value": ("loss (nats), accuracy (%), mean square error (1), evaluations, or scale (pixels)", "by panel"),
    },
)
