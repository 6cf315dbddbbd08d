"""What is said of the inputs of all blocks scaled: total evaluations per batch, and accuracy."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.response_claims import HALF_A_POINT, labels_of, points, right
from dcnbio.analysis.contrast.solved import left_out, solved_batches
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import paired_difference

__all__ = ["whole_network_claims"]


def whole_network_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what scaling the inputs of all blocks does to total evaluations per batch, and to accuracy."""
    data, labels = tree["whole_network"].to_dataset(), labels_of(tree)
    claims = []
    for c in data["contrast"].values:
        claims.append(evaluations_claim(name, float(c), data))
        claims += accuracy_claims(name, float(c), data.sel(contrast=c), labels)
    return claims


def evaluations_claim(name: str, c: float, data: xr.Dataset) -> Claim:
    """Say what T-hat everywhere saves, and what is left of it once the tolerance is scaled along."""
    title = f"{name}: total evaluations at contrast {c:g} minus 1, all inputs scaled, T-hat everywhere"
    solved = solved_batches(data, c)
    if not solved.any():
        why = "no batch was solved in every pass"
        text = f"What T-hat everywhere saves at contrast {c:g} is not known: {why}."
        control = Control("the same with the tolerance scaled along: not known")
        return Claim(title, solved.size, "batches", math.nan, Interval.none(why), control, text)
    at_one = data["reference_nfe"].sum("block").values[solved].astype(np.float64)
    every = {
        str(p): data["nfe"].sel(protocol=p, contrast=c).sum("block").values[solved].astype(np.float64)
        for p in data["protocol"].values
    }
    scaled, tight = every["T-hat everywhere"] - at_one, every["T-hat and tolerance"] - at_one
    unsolved = left_out(int((~solved).sum()), "batch", "batches")

    return Claim(
        title,
        at_one.size,
        "batches",
        float(scaled.mean()),
        interval_of(scaled, "batches"),
        Control("the same with the tolerance scaled along", float(tight.mean()), interval_of(tight, "batches")),
        f"In {batches(data['batch_images'].values[solved])} that share their steps total evaluations go from "
        f"{at_one.mean():.1f} to {every['T-hat everywhere'].mean():.1f} with T-hat everywhere (the paper: 102 to 60 at "
        f"0.06), to {every['fixed T'].mean():.1f} with T fixed, and to "
        f"{every['T-hat and tolerance'].mean():.1f} with T-hat and the tolerance scaled along{unsolved}.",
    )


def batches(images: NDArray[np.int64]) -> str:
    """Say how many batches there are, and of how many images.

    Examples
    --------
    >>> batches(np.array([20, 20])), batches(np.array([20, 20, 5])), batches(np.array([1]))
    ('2 batches of 20 images', '3 batches of 20 images, the last of 5,', '1 batch of 1 image')
    """
    count, size, last = len(images), int(images[0]), int(images[-1])
    said = f"{count} batch{'es' if count > 1 else ''} of {size} image{'s' if size > 1 else ''}"
    return said if last == size else f"{said}, the last of {last},"


def accuracy_claims(name: str, c: float, data: xr.Dataset, labels: NDArray[np.int64]) -> list[Claim]:
    """Say what T-hat everywhere costs in accuracy, and what of it the time term makes."""
    before = right(data["reference_answer"], labels)
    answers = {str(p): right(data["answer"].sel(protocol=p), labels) for p in data["protocol"].values}
    found = {protocol: paired_difference(one, before) for protocol, one in answers.items()}
    cost, other, clock = found["T-hat everywhere"], found["fixed T"], found["T-hat and time term"]
    # with the time term scaled along against without it, image by image
    made = paired_difference(answers["T-hat and time term"], answers["T-hat everywhere"])
    where = f"at contrast {c:g} minus 1, all inputs scaled, T-hat everywhere"
    low, high = made.interval.low, made.interval.high
    restores = "restores" if low > 0 else "takes away" if high < 0 else "is not seen to change"
    return [
        Claim(
            f"{name}: accuracy {where}",
            cost.n,
            "images",
            cost.value,
            cost.interval,
            Control("the same with T fixed", other.value, other.interval),
            f"At contrast {c:g} with all inputs scaled and T-hat everywhere accuracy changes by "
            f"{points(cost.value)} in this network; less than half a point, as the paper has it: "
            f"{cost.verdict(HALF_A_POINT)} (n = {cost.n}). With the tolerance scaled along it is "
            f"{points(found['T-hat and tolerance'].value)}, with T fixed {points(other.value)}.",
        ),
        Claim(
            f"{name}: accuracy {where} and the time term read at t / c",
            clock.n,
            "images",
            clock.value,
            clock.interval,
            Control("the same with the time term as it is", cost.value, cost.interval),
            f"With the time channel of every block read at t / c the change is {points(clock.value)} in place of "
            f"{points(cost.value)}: reading the whole clock {restores} accuracy "
            f"({points(made.value)}, n = {made.n}).",
        ),
    ]
