"""What is said of T-hat's evaluations beside those of a looser tolerance at contrast 1 that errs as much."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.equal_error import EqualError, equal_error_ratio
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.own_generator import own_generator

__all__ = ["equal_error_claims"]


def equal_error_claims(name: str, tree: xr.DataTree, seed: int, resamples: int) -> list[Claim]:
    """Compare T-hat's evaluations with those of a looser tolerance and longer first step that err as much.

    The control is T-hat with eps and the time term scaled along: by the law that is the equation of contrast 1, so what
    T-hat saves beyond it is saved by another equation, not by the solver. Each comparison has a generator of its own.
    """
    weights = str(tree.attrs.get("weights", name))
    data = tree["tolerance"].to_dataset()
    claims = []
    for c in data["contrast"].values:
        own = data.sel(contrast=c)
        solved = np.isfinite(own["error"].values).all(0) & np.isfinite(own["loose_error"].values).all(0)
        if not solved.any():
            continue
        loose, plain, along = (
            (one[error].values[..., solved].astype(np.float64), one[nfe].values[..., solved].astype(np.float64))
            for one, error, nfe in (
                (own, "loose_error", "loose_nfe"),
                (own.sel(equation="as it is"), "error", "nfe"),
                (own.sel(equation="scaled along"), "error", "nfe"),
            )
        )
        drawn = [own_generator(seed, weights, f"{c:.17g}", equation) for equation in ("as it is", "scaled along")]
        found = equal_error_ratio(loose, plain, drawn[0], resamples)
        control = equal_error_ratio(loose, along, drawn[1], resamples)
        claims.append(
            Claim(
                f"{name}: evaluations with T-hat at contrast {c:g} over those of a looser tolerance, equal logit error",
                int(solved.sum()),
                "images",
                found.ratio,
                interval_of(found),
                Control("the same with eps and the time term scaled along", control.ratio, interval_of(control)),
                f"At the error T-hat has at contrast {c:g} ({found.error:.2g} of the logits' spread) it takes "
                f"{plain[1].mean():.1f} evaluations where at contrast 1 a looser tolerance, and a first step as much "
                f"longer, takes {compared(float(plain[1].mean()), found)}. With eps and the time term scaled along it "
                f"takes {along[1].mean():.1f} where the other takes {compared(float(along[1].mean()), control)}.",
            )
        )
    return claims


def interval_of(found: EqualError) -> Interval:
    """Give the interval of a ratio; of a mere limit there is none."""
    return found.interval if found.side == "between" else Interval.none("no tolerance tried errs as much")


def compared(taken: float, found: EqualError) -> str:
    """Say what a looser tolerance takes, and which takes fewer."""
    other = f"{taken / found.ratio:.1f}"
    if found.side == "above":
        which = "T-hat saves no more than that" if found.ratio >= 1 else "which takes fewer is not known"
        return f"{other} or fewer, since even the loosest tried errs less: {which}"
    if found.side == "below":
        return f"{other} or more, since even the tightest tried errs more: which takes fewer is not known"
    if not found.interval.exists:
        return f"{other}: {'no difference is seen' if found.ratio == 1 else 'whether they differ cannot be told'}"
    limits = f"{other} (ratio {found.ratio:.2f}, {found.interval.low:.2f} to {found.interval.high:.2f})"
    if 1 in found.interval:
        return f"{limits}: no difference is seen"
    return f"{limits}: {'the looser tolerance' if found.ratio > 1 else 'T-hat'} takes fewer"
