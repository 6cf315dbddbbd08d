"""What was found of a network in one sentence, of one contrast."""

from __future__ import annotations

import math

import xarray as xr

from dcnbio.analysis.contrast.law_claims import law_check
from dcnbio.analysis.contrast.response_claims import changes_at, headline_contrasts
from dcnbio.analysis.contrast.saving import Saving, savings
from dcnbio.analysis.statistics.paired_difference import PairedDifference

__all__ = ["contrast_sentence"]


def contrast_sentence(name: str, tree: xr.DataTree) -> str:
    """Say what one contrast does to accuracy and to evaluations, and whether the law holds.

    The contrast is the highest at which both are known; where there is none, evaluations are left out.

    Parameters
    ----------
    name : str
        What the network is called.
    tree : xarray.DataTree
        From `dcnbio.probe.contrast.record_contrast`.
    """
    known = {one.contrast: one for one in savings(tree) if one.change.size}
    spoken = headline_contrasts(tree)
    c = ([c for c in spoken if c in known] or spoken)[-1]
    fixed, scaled = changes_at(tree, c)
    law = law_check(tree).largest
    exact = f"exact to {law:.0e}" if math.isfinite(law) else "not checked"
    parts = [
        f"at contrast {c:g} accuracy changes by {limited(fixed)} points with T fixed and {limited(scaled)} with T-hat "
        f"(n = {scaled.n})",
        *([saved(known[c])] if c in known else []),
        f"the scaling law is {exact} in float64 without eps",
    ]
    return f"{name}: {'; '.join(parts)}."


def saved(one: Saving) -> str:
    """Say what T-hat saves."""
    change, tight = f"{one.change.mean():+.1f}", f"{one.tight.mean():+.1f}"
    return f"T-hat takes {change} evaluations in block 1, {tight} with the tolerance scaled along, so {one.verdict}"


def limited(change: PairedDifference) -> str:
    """Write a change of accuracy in points with its limits."""
    value, low, high = (
        f"{round(100 * one, 1) + 0.0:+.1f}" for one in (change.value, change.interval.low, change.interval.high)
    )
    return f"{value} ({low} to {high})"
