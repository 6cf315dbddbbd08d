"""What contrast saves beside a looser tolerance of equal error, and what it saves in the whole network."""

from __future__ import annotations

import numpy as np
import xarray as xr

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
        return f"{other} or fewer, since even the loosest tried errs less: which takes fewer is not known"
    if found.side == "below":
        return f"{other} or more, since even the tightest tried errs more: which takes fewer is not known"
    if not found.interval.exists or 1 in found.interval:
        return f"{other}: no difference is seen"
    return f"{other}: {'T-hat saves less than that' if found.ratio > 1 else 'T-hat saves more than that'}"


def totals(data: xr.Dataset) -> tuple[Floats, Floats]:
    """Give total evaluations, (protocol, contrast, batch), and at contrast 1, (batch)."""
    return data["nfe"].sum("block").values.astype(np.float64), data["reference_nfe"].sum("block").values.astype(float)


def whole_network_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what scaling the inputs of all blocks does to total evaluations per batch, and to accuracy."""
    data, labels = tree["whole_network"].to_dataset(), labels_of(tree)
    every, at_one = totals(data)
    scaled, tight = every[1] - at_one, every[2] - at_one
    answer = right(data["answer"], labels)
    before = right(data["reference_answer"], labels)
    claims = []
    for i, c in enumerate(data["contrast"].values):
        batches = "no interval over batches: one batch"
        claims.append(
            Claim(
                f"{name}: total evaluations at contrast {c:g} minus 1, all inputs scaled, T-hat everywhere",
                at_one.size,
                "batches",
                float(scaled[i].mean()),
                t_interval(scaled[i]) if at_one.size > 1 else Interval.none(batches),
                Control(
                    "the same with the tolerance scaled along",
                    float(tight[i].mean()),
                    t_interval(tight[i]) if at_one.size > 1 else Interval.none(batches),
                ),
                f"Total evaluations go from {at_one.mean():.1f} to {every[1, i].mean():.1f} with T-hat everywhere "
                f"(the paper: 102 to 60 at 0.06), to {every[0, i].mean():.1f} with T fixed, and to "
                f"{every[2, i].mean():.1f} with T-hat and the tolerance scaled along.",
            )
        )
        other, cost, tighter = (paired_difference(answer[k, i], before) for k in range(3))
        claims.append(
            Claim(
                f"{name}: accuracy at contrast {c:g} minus 1, all inputs scaled, T-hat everywhere",
                cost.n,
                "images",
                cost.value,
                cost.interval,
                Control("the same with T fixed", other.value, other.interval),
                f"At contrast {c:g} with all inputs scaled and T-hat everywhere accuracy changes by "
                f"{points(cost.value)} in this network; less than half a point, as the paper has it: "
                f"{cost.verdict(HALF_A_POINT)} (n = {cost.n}). With the tolerance scaled along it is "
                f"{points(tighter.value)}, with T fixed {points(other.value)}.",
            )
        )
    return claims
