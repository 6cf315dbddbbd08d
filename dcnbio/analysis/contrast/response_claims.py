"""What is said of accuracy against contrast, with T fixed and with T-hat = c T."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.solved import solved_at
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.paired_difference import PairedDifference, paired_difference

__all__ = [
    "HALF_A_POINT",
    "changes_at",
    "curves",
    "difference_claim",
    "headline_contrasts",
    "labels_of",
    "points",
    "response_claims",
    "right",
]

HALF_A_POINT = 0.005  # the paper's bound on what contrast costs
WORK = {"long_name": "mean function evaluations over images", "units": "1"}


def labels_of(tree: xr.DataTree) -> NDArray[np.int64]:
    """Give the class of each image."""
    return np.asarray(tree["label"].values, dtype=np.int64)


def right(answers: xr.DataArray, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which answers are right; images are the last axis, and one that was not solved is wrong."""
    found: NDArray[np.bool_] = answers.values == labels[: answers.shape[-1]]
    return found


def points(value: float) -> str:
    """Write a difference of accuracies in percentage points."""
    return f"{round(100 * value, 1) + 0.0:+.1f} points"


def headline_contrasts(tree: xr.DataTree) -> list[float]:
    """Choose the contrasts that are spoken of: those taken apart, where they were run, else the lowest."""
    contrasts = [float(c) for c in tree["response"].to_dataset()["contrast"].values]
    known = [float(c) for c in tree["factorial"].to_dataset()["contrast"].values if c in contrasts]
    return known or contrasts[:1]


def curves(tree: xr.DataTree) -> xr.Dataset:
    """Give accuracy and evaluations against contrast.

    Returns
    -------
    xarray.Dataset
        ``accuracy``, ``difference`` from contrast 1, ``difference_interval`` (.., bound), and mean ``nfe`` (.., block),
        over (protocol, contrast); ``reference_accuracy``, and ``reference_nfe`` (block) at contrast 1. An image that
        was not solved is wrong, and its evaluations are not averaged: ``nfe_images`` (contrast) says how many were,
        which are those solved at contrast 1 and with both protocols.
    """
    data, labels = tree["response"].to_dataset(), labels_of(tree)
    at_one = right(data["reference_answer"], labels)
    correct = right(data["answer"], labels)
    found = [[paired_difference(cell, at_one) for cell in line] for line in correct]
    dims = ("protocol", "contrast")
    limits = [[[one.interval.low, one.interval.high] for one in line] for line in found]
    about = {"long_name": "accuracy", "units": "1"}
    difference = {"long_name": "accuracy minus that at contrast 1, same images", "units": "1"}
    solved = [solved_at(data, c) for c in data["contrast"].values]
    nfe = [mean_work(data["nfe"].sel(contrast=c), own) for c, own in zip(data["contrast"].values, solved, strict=True)]
    return xr.Dataset(
        {
            "accuracy": (dims, correct.mean(-1), about),
            "difference": (dims, [[one.value for one in line] for line in found], difference),
            "difference_interval": ((*dims, "bound"), limits, difference),
            "nfe": ((*dims, "block"), np.stack(nfe, axis=1), WORK),
            "nfe_images": ("contrast", [int(own.sum()) for own in solved], {**WORK, "long_name": "images of nfe"}),
            "reference_accuracy": ((), at_one.mean(), about),
            "reference_nfe": ("block", mean_work(data["reference_nfe"], data["reference_answer"].values >= 0), WORK),
        },
        {
            **{name: data[name] for name in ("protocol", "contrast", "block")},
            "bound": ["low", "high"],
        },
    )


def mean_work(nfe: xr.DataArray, solved: NDArray[np.bool_]) -> Floats:
    """Average evaluations (.., stimulus, block) over the images that were solved; NaN where none was."""
    chosen = nfe.values[..., solved, :]
    found: Floats = chosen.mean(-2) if solved.any() else np.full(chosen.sum(-2).shape, np.nan)
    return found


def changes_at(tree: xr.DataTree, c: float) -> tuple[PairedDifference, PairedDifference]:
    """Give the accuracy at contrast c minus 1, with T fixed, and with T-hat."""
    data, labels = tree["response"].to_dataset(), labels_of(tree)
    at_one = right(data["reference_answer"], labels)
    fixed, scaled = (
        paired_difference(right(data["answer"].sel(protocol=protocol, contrast=c), labels), at_one)
        for protocol in ("fixed T", "T-hat")
    )
    return fixed, scaled


def response_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what contrast does to accuracy, with T fixed and with T-hat, each as the other's control."""
    claims = []
    for c in headline_contrasts(tree):
        fixed, scaled = changes_at(tree, c)
        claims.append(
            difference_claim(name, (c, "T fixed"), fixed, Control("with T-hat", scaled.value, scaled.interval))
        )
        claims.append(
            difference_claim(name, (c, "T-hat"), scaled, Control("with T fixed", fixed.value, fixed.interval))
        )
    return claims


def difference_claim(name: str, run: tuple[float, str], found: PairedDifference, control: Control) -> Claim:
    """Put a difference beside that of the other protocol, and judge it against half a point."""
    said = {
        "within": "less than half a point either way",
        "beyond": "more than half a point",
        "cannot tell": f"n = {found.n} cannot tell whether that is under half a point",
    }[found.verdict(HALF_A_POINT)]
    c, protocol = run
    low, high = (f"{100 * limit:+.1f}" for limit in (found.interval.low, found.interval.high))
    beside = f"; {control.name} by {points(control.estimate)}" if math.isfinite(control.estimate) else ""
    return Claim(
        f"{name}: accuracy at contrast {c:g} minus 1, {protocol}",
        found.n,
        "images",
        found.value,
        found.interval,
        control,
        f"At contrast {c:g} with {protocol} accuracy changes by {points(found.value)} ({low} to {high}) in this "
        f"network, {said}{beside}.",
    )
