"""Training: loss and accuracy, or error, evaluations and scales of a run, epoch by epoch."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import block_title
from dcnbio.figures.octave_axis import octave_axis
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import colour
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["TRAINING_CURVES", "TrainingRun", "read_run"]


@dataclass(frozen=True)
class TrainingRun:
    """The figures of a training run.

    Attributes
    ----------
    name : str
        Of its folder.
    rows : tuple of dict of str to str
        Those of metrics.csv, one per epoch.
    """

    name: str
    rows: tuple[dict[str, str], ...]


def read_run(folder: str | Path) -> TrainingRun:
    """Read the metrics of a run.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> read_run("no-run")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: no-run holds no metrics.csv with an epoch in it; give a folder that dcnbio train wrote.
    """
    folder = Path(folder)
    path = folder / "metrics.csv" if folder.is_dir() else folder
    rows: list[dict[str, str]] = []
    if path.is_file():
        with open(path, newline="", encoding="utf-8") as file:
            # the last row may have been cut by a full disk
            rows = [row for row in csv.DictReader(file) if None not in row.values() and row.get("step", "").isdigit()]
    if not rows:
        raise InputError(f"{folder} holds no metrics.csv with an epoch in it; give a folder that dcnbio train wrote.")
    return TrainingRun(path.resolve().parent.name, tuple(rows))


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
    rows = []
    for line in run.rows:
        for column, text in line.items():
            found = panel_of(column)
            if found is None or text == "":
                continue
            panel, series, factor = found
            value = 2 ** float(text) if panel == "sigma" else factor * float(text)
            about = {"epoch": int(line["epoch"]), "step": int(line["step"]), "passes": int(line["passes"])}
            rows.append({"panel": panel, "series": series, **about, "value": value})
    return table_of(rows)


LABELS = {
    "loss": "Loss (nats)",
    "mse": "Mean square error",
    "accuracy": "Accuracy (%)",
    "nfe": "NFE per step (evaluations)",
    "sigma": "Scale $\\sigma$ (pixels)",
}


def draw_panel(axes: Axes, own: Table, panel: str) -> None:
    """Draw one panel, its lines named at their ends."""
    for number, series in enumerate(unique(own, "series")):
        line = own[own["series"] == series]
        x, y = line["passes"].to_numpy() / 1000, line["value"].to_numpy()
        axes.plot(x, y, "o-" if len(x) < 30 else "-", color=colour(number), ms=2)
        label_end(axes, x[-1], y[-1], series, colour(number))
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
    last = run.rows[-1]
    held = last.get("held_out_n", "0")
    measured = "mean square errors (RGB in [0, 1])" if "mse" in last else "loss and accuracy"
    solvers = list(dict.fromkeys(row["solver"] for row in run.rows if row.get("solver")))
    return (
        f"Training of one network (n = 1 run, {run.name}), a point per epoch, {len(run.rows)} epochs, "
        f"{int(last['passes']):,} images seen. Training {measured} are means over the images of an epoch as "
        f"they came, with the weights of the moment and the training solver ({', '.join(solvers)}); held-out values "
        f"are over {held} images that are not trained on, with dopri5 at tolerance 1e-3. NFE, evaluations per training "
        "step, forward and backward; scales of SRF layers as block.convolution, geometric means where each filter has "
        "its own. One run has no error bar."
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
        "epoch": ("epochs done", "1"),
        "step": ("training steps done", "1"),
        "passes": ("images seen", "1"),
        "value": ("loss (nats), accuracy (%), mean square error (1), evaluations, or scale (pixels)", "by panel"),
    },
)
