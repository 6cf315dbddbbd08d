"""What contrast saves beside a looser tolerance of equal error, and what it saves in the whole network."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.equal_error import EqualError, equal_error_ratio
from dcnbio.analysis.contrast.response_claims import HALF_A_POINT, labels_of, points, right
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import paired_difference
from dcnbio.analysis.statistics.t_interval import t_interval

__all__ = ["equal_error_claims", "whole_network_claims"]


def equal_error_claims(name: str, tree: xr.DataTree, rng: np.random.Generator, resamples: int) -> list[Claim]:
    """Compare T-hat's evaluations with those of a looser tolerance at contrast 1 that errs as much."""
    data = tree["tolerance"].to_dataset()
    claims = []
    for c in data["contrast"].values:
        own = data.sel(contrast=c)
        errors = np.concatenate([data["loose_error"].values, own["error"].values[None]])
        solved = np.isfinite(errors).all(0)
        if not solved.any():
            continue
        loose = tuple(data[key].values[:, solved].astype(np.float64) for key in ("loose_error", "loose_nfe"))
        scaled = tuple(own[key].values[solved].astype(np.float64) for key in ("error", "nfe"))
        found = equal_error_ratio((loose[0], loose[1]), (scaled[0], scaled[1]), rng, resamples)
        taken = float(scaled[1].mean())
        claims.append(
            Claim(
                f"{name}: evaluations with T-hat at contrast {c:g} over those of a looser tolerance, equal logit error",
                int(solved.sum()),
                "images",
                found.ratio,
                found.interval if found.side == "between" else Interval.none("no tolerance tried errs as much"),
                Control("equal: the saving is that of a looser tolerance", 1.0),
                f"At the error T-hat has at contrast {c:g} ({found.error:.2g} of the logits' spread) it takes "
                f"{taken:.1f} evaluations where a looser tolerance at contrast 1 takes {compared(taken, found)}.",
            )
        )
    return claims


def compared(taken: float, found: EqualError) -> str:
    """Say what a looser tolerance takes, and which takes fewer."""
    other = f"{taken / found.ratio:.1f}"
    if found.side == "above":
        which = "T-hat saves no more than that" if found.ratio >= 1 else "which takes fewer is not known"
        return f"{other} or fewer, since even the loosest tried errs less: {which}"
    if found.side == "below":
        return f"{other} or more, since even the tightest tried errs more: which takes fewer is not known"
    if not found.interval.exists or 1 in found.interval:
        return f"{other}: no difference is seen"
    return f"{other}: {'T-hat saves less than that' if found.ratio > 1 else 'T-hat saves more than that'}"


def whole_network_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what scaling the inputs of all blocks does to total evaluations per batch, and to accuracy."""
    data, labels = tree["whole_network"].to_dataset(), labels_of(tree)
    claims = []
    for c in data["contrast"].values:
        at = data.sel(contrast=c)
        claims += [evaluations_claim(name, float(c), at), *accuracy_claims(name, float(c), at, labels)]
    return claims


def evaluations_claim(name: str, c: float, data: xr.Dataset) -> Claim:
    """Say what T-hat everywhere saves, and what is left of it once the tolerance is scaled along."""
    at_one = data["reference_nfe"].sum("block").values.astype(np.float64)
    every = {str(p): data["nfe"].sel(protocol=p).sum("block").values.astype(float) for p in data["protocol"].values}
    scaled, tight = every["T-hat everywhere"] - at_one, every["T-hat and tolerance"] - at_one

    def interval(values: Floats) -> Interval:
        return t_interval(values) if values.size > 1 else Interval.none("no interval over batches: one batch")

    return Claim(
        f"{name}: total evaluations at contrast {c:g} minus 1, all inputs scaled, T-hat everywhere",
        at_one.size,
        "batches",
        float(scaled.mean()),
        interval(scaled),
        Control("the same with the tolerance scaled along", float(tight.mean()), interval(tight)),
        f"Total evaluations go from {at_one.mean():.1f} to {every['T-hat everywhere'].mean():.1f} with T-hat "
        f"everywhere (the paper: 102 to 60 at 0.06), to {every['fixed T'].mean():.1f} with T fixed, and to "
        f"{every['T-hat and tolerance'].mean():.1f} with T-hat and the tolerance scaled along.",
    )


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
