"""What is said of accuracy against contrast, with T fixed and with T-hat = c T."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.statistics.paired_difference import PairedDifference, paired_difference

__all__ = [
    "HALF_A_POINT",
    "curves",
    "difference_claim",
    "headline_contrasts",
    "labels_of",
    "points",
    "response_claims",
    "right",
]

HALF_A_POINT = 0.005  # the paper's bound on what contrast costs


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
        over (protocol, contrast); ``reference_accuracy``, and ``reference_nfe`` (block) at contrast 1.
    """
    data, labels = tree["response"].to_dataset(), labels_of(tree)
    at_one = right(data["reference_answer"], labels)
    correct = right(data["answer"], labels)
    found = [[paired_difference(cell, at_one) for cell in line] for line in correct]
    dims = ("protocol", "contrast")
    limits = [[[one.interval.low, one.interval.high] for one in line] for line in found]
    about = {"long_name": "accuracy", "units": "1"}
    difference = {"long_name": "accuracy minus that at contrast 1, same images", "units": "1"}
    work = {"long_name": "mean function evaluations over images", "units": "1"}
    return xr.Dataset(
        {
            "accuracy": (dims, correct.mean(-1), about),
            "difference": (dims, [[one.value for one in line] for line in found], difference),
            "difference_interval": ((*dims, "bound"), limits, difference),
            "nfe": ((*dims, "block"), data["nfe"].values.mean(2), work),
            "reference_accuracy": ((), at_one.mean(), about),
            "reference_nfe": ("block", data["reference_nfe"].values.mean(0), work),
        },
        {
            **{name: data[name] for name in ("protocol", "contrast", "block")},
            "bound": ["low", "high"],
        },
    )


def response_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what contrast does to accuracy, with T fixed and with T-hat, each as the other's control."""
    data, labels = tree["response"].to_dataset(), labels_of(tree)
    at_one = right(data["reference_answer"], labels)
    claims = []
    for c in headline_contrasts(tree):
        fixed, scaled = (
            paired_difference(right(data["answer"].sel(protocol=protocol, contrast=c), labels), at_one)
            for protocol in ("fixed T", "T-hat")
        )
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
