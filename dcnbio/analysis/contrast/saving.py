"""What T-hat saves in evaluations of block 1, and what of it a looser tolerance saves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.solved import left_out, solved_at
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["Saving", "saving_claims", "savings", "verdict", "whether_saved"]

LEAST_ALIKE = 6  # of images that all change alike, for a sign test at 5 %: 2 / 2^6


@dataclass(frozen=True, eq=False)
class Saving:
    """Evaluations of block 1 with T-hat at one contrast.

    Attributes
    ----------
    contrast : float
    at_one : array, shape (n,)
        Evaluations at contrast 1, of the images that were solved in every pass.
    change, tight : array, shape (n,)
        With T-hat minus those, and the same with the tolerance scaled along.
    unsolved : int
        Images that are left out.
    """

    contrast: float
    at_one: Floats
    change: Floats
    tight: Floats
    unsolved: int

    @property
    def verdict(self) -> str:
        """Whether the saving is that of a looser tolerance."""
        means = float(self.change.mean()), float(self.tight.mean())
        return verdict(*means, interval_of(self.tight), interval_of(self.change), self.change.size)


def savings(tree: xr.DataTree) -> list[Saving]:
    """Compare evaluations at each contrast that is taken apart, over the images that were solved in every pass."""
    data, found = tree["factorial"].to_dataset(), []
    work = data["nfe"].isel(block=0).sel(eps=0, time_term=0)
    for c in data["contrast"].values:
        solved = solved_at(data, c)
        at_one = data["reference_nfe"].isel(block=0).values[solved].astype(np.float64)
        plain, tight = (
            work.sel(contrast=c, solver_tolerance=along).values[solved].astype(np.float64) for along in (0, 1)
        )
        found.append(Saving(float(c), at_one, plain - at_one, tight - at_one, int((~solved).sum())))
    return found


def saving_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say whether T-hat saves evaluations, and whether it still does with the tolerance scaled along."""
    return [saving_claim(name, one) for one in savings(tree)]


def saving_claim(name: str, one: Saving) -> Claim:
    """Say it of one contrast, or that no image was solved."""
    c, n, what = one.contrast, one.change.size, "the same with the tolerance scaled along"
    title = f"{name}: evaluations of block 1 at contrast {c:g} with T-hat, minus contrast 1"
    if not n:
        why = "no image was solved in every pass"
        text = f"What T-hat saves at contrast {c:g} is not known: {why}."
        return Claim(title, one.unsolved, "images", math.nan, Interval.none(why), Control(f"{what}: not known"), text)
    mean, kept = float(one.change.mean()), float(one.tight.mean())
    text = (
        f"T-hat at contrast {c:g} takes {mean:+.1f} evaluations beside {one.at_one.mean():.1f} at contrast 1, and "
        f"{kept:+.1f} once the tolerance is scaled along: {one.verdict}{left_out(one.unsolved)}."
    )
    return Claim(title, n, "images", mean, interval_of(one.change), Control(what, kept, interval_of(one.tight)), text)


def whether_saved(saved: float, interval: Interval, n: int) -> str:
    """Say that nothing is saved, or that it cannot be told; nothing where evaluations are surely saved.

    Images that all save as many have no interval: six of them or more are sure by the sign test.

    Examples
    --------
    >>> whether_saved(-6.0, Interval.none("all 3 images give the same"), 3)
    'whether that saves any cannot be told'
    >>> whether_saved(-6.0, Interval.none("all 9 images give the same"), 9), whether_saved(0.5, Interval(-2, 3), 9)
    ('', 'no saving is seen')
    """
    untold = not interval.exists and n < LEAST_ALIKE
    if saved >= 0:
        return "no saving is seen" if untold or below_0(interval) else "nothing is saved"
    return "whether that saves any cannot be told" if untold or (interval.exists and interval.high >= 0) else ""


def verdict(saved: float, kept: float, of_kept: Interval, of_saved: Interval, n: int) -> str:
    """Say whether a saving is that of the tolerance.

    Parameters
    ----------
    saved, kept : float
        Mean evaluations less those at contrast 1, and the same with the tolerance scaled along.
    of_kept, of_saved : Interval
        Of both; one with 0 in it is no proof of nothing.
    n : int
        Images.
    """
    unsaved = whether_saved(saved, of_saved, n)
    if unsaved:
        return unsaved
    untold = not of_kept.exists and n < LEAST_ALIKE
    if kept >= 0:
        if untold or below_0(of_kept):
            return "nothing of the saving is seen to be left, so it may be a looser tolerance and nothing else"
        return "the saving is a looser tolerance and nothing else"
    share = f"a looser tolerance makes {100 * (1 - kept / saved):.0f} % of the saving"
    return f"{share}; whether the rest is more than chance cannot be told" if untold or 0 in of_kept else share


def below_0(interval: Interval) -> bool:
    """Say whether an interval reaches below 0."""
    return interval.exists and interval.low < 0
