"""What breaks the scaling law: eps, time term and tolerance, each with its share of the deviation and the saving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.response_claims import labels_of, right
from dcnbio.analysis.contrast.shapley import shapley_values
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.t_interval import t_interval

__all__ = ["FACTORS", "Attribution", "attributions", "factorial_claims", "saving_claims"]

FACTORS = ("eps", "time_term", "solver_tolerance")
UNIT = {"images": "image", "batches": "batch"}
WORDS = {"eps": "eps", "time_term": "the time term", "solver_tolerance": "the tolerance"}


@dataclass(frozen=True, eq=False)
class Attribution:
    """One outcome at one contrast, taken apart.

    Attributes
    ----------
    outcome, unit : str
    contrast : float
    sign : int
        Of the share in what is spoken of: the loss by a factor is what correcting it takes away, or gives back.
    cells : array, shape (2, 2, 2, n)
        Uncorrected and corrected eps, time term, tolerance.
    """

    outcome: str
    unit: str
    contrast: float
    sign: int
    cells: Floats

    @property
    def shares(self) -> Floats:
        """Share of each factor, shape (3, n)."""
        found: Floats = self.sign * shapley_values(self.cells, 3)
        return found


def attributions(tree: xr.DataTree) -> list[Attribution]:
    """Take logits, maps, accuracy and evaluations apart at each contrast; images not solved in a cell are left out."""
    data, labels = tree["factorial"].to_dataset(), labels_of(tree)
    found = []
    for c in data["contrast"].values:
        cells = data.sel(contrast=c)
        solved = (cells["answer"].values >= 0).all((0, 1, 2)) & (data["reference_answer"].values >= 0)
        if not solved.any():
            continue
        every = [
            ("deviation of the logits", "of their spread", -1, cells["logit_deviation"].values),
            ("deviation of block 1's normalised maps", "rms", -1, cells["map_deviation"].values),
            ("loss of accuracy", "fraction", 1, right(cells["answer"], labels).astype(np.float64)),
            ("saving of evaluations of block 1", "NFE", 1, cells["nfe"].isel(block=0).values.astype(np.float64)),
        ]
        found += [Attribution(*part[:2], float(c), part[2], part[3][..., solved]) for part in every]
    return found


def interval_of(values: Floats, units: str = "images") -> Interval:
    """Give the t interval of a mean over images, or over batches, or why there is none."""
    if values.size < 2:
        return Interval.none(f"one {UNIT[units]} has no spread")
    if values.min() == values.max():
        return Interval.none(f"all {values.size} {units} give the same, so nothing is known of their spread")
    return t_interval(values)


def share_claims(name: str, one: Attribution) -> list[Claim]:
    """Say how much of an outcome each factor makes; the three together are the control."""
    total = one.shares.sum(0)
    whole = Control("all three together", float(total.mean()), interval_of(total))
    claims = []
    for factor, share in zip(FACTORS, one.shares, strict=True):
        mean = float(share.mean())
        claims.append(
            Claim(
                f"{name}: {one.outcome} at contrast {one.contrast:g} by {WORDS[factor]} ({one.unit}, Shapley)",
                share.size,
                "images",
                mean,
                interval_of(share),
                whole,
                f"In this network {WORDS[factor]} makes {mean:+.3g} of the {one.outcome} of {total.mean():+.3g} at "
                f"contrast {one.contrast:g} with T-hat.",
            )
        )
    return claims


def factorial_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say what makes deviation, loss and saving."""
    return [claim for one in attributions(tree) for claim in share_claims(name, one)]


def saving_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say whether T-hat saves evaluations, and whether it still does with the tolerance scaled along."""
    data = tree["factorial"].to_dataset()
    claims = []
    at_one = data["reference_nfe"].isel(block=0).values.astype(np.float64)
    for c in data["contrast"].values:
        cells = data["nfe"].isel(block=0).sel(contrast=c, eps=0, time_term=0).values.astype(np.float64)
        plain, tight = cells[0] - at_one, cells[1] - at_one
        control = interval_of(tight)
        mean, kept = float(plain.mean()), float(tight.mean())
        claims.append(
            Claim(
                f"{name}: evaluations of block 1 at contrast {c:g} with T-hat, minus contrast 1",
                plain.size,
                "images",
                mean,
                interval_of(plain),
                Control("the same with the tolerance scaled along", kept, control),
                f"T-hat at contrast {c:g} takes {mean:+.1f} evaluations beside {at_one.mean():.1f} at contrast 1, and "
                f"{kept:+.1f} once the tolerance is scaled along: {verdict(mean, kept, control, interval_of(plain))}.",
            )
        )
    return claims


def verdict(saved: float, kept: float, of_kept: Interval, of_saved: Interval | None = None) -> str:
    """Say whether a saving is that of the tolerance.

    Parameters
    ----------
    saved, kept : float
        Mean evaluations less those at contrast 1, and the same with the tolerance scaled along.
    of_kept, of_saved : Interval
        Of both; one with 0 in it is no proof of nothing.
    """
    if saved >= 0:
        return "no saving is seen" if of_saved is not None and below_0(of_saved) else "nothing is saved"
    if of_saved is not None and of_saved.exists and of_saved.high >= 0:
        return "whether that saves any cannot be told"
    if kept >= 0:
        if below_0(of_kept):
            return "nothing of the saving is seen to be left, so it may be a looser tolerance and nothing else"
        return "the saving is a looser tolerance and nothing else"
    share = f"a looser tolerance makes {100 * (1 - kept / saved):.0f} % of the saving"
    unsure = 0 in of_kept or not of_kept.exists
    return f"{share}; whether the rest is more than chance cannot be told" if unsure else share


def below_0(interval: Interval) -> bool:
    """Say whether an interval reaches below 0."""
    return interval.exists and interval.low < 0
