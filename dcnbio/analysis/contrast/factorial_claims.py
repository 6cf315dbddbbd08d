"""What breaks the scaling law: eps, time term and tolerance, each with its share of the deviation and the saving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.response_claims import labels_of, right
from dcnbio.analysis.contrast.shapley import shapley_values
from dcnbio.analysis.contrast.solved import solved_at
from dcnbio.analysis.shapes import Floats

__all__ = ["FACTORS", "Attribution", "attributions", "factorial_claims"]

FACTORS = ("eps", "time_term", "solver_tolerance")
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
        cells, solved = data.sel(contrast=c), solved_at(data, c)
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
