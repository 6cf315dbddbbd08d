"""Growth of fields and fall of preferred frequency from block to block, beside what the strides alone make."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.limits import limit_sides
from dcnbio.analysis.responses.medians import median_with_limits
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["level_claims"]

NONE = Interval.none("described, without a verdict: strides set most of it")
MEASURES = {
    "field_sigma_moments": "sigma of the local field",
    "summation_diameter": "summation diameter",
    "preferred_spatial_frequency": "preferred spatial frequency",
}


@dataclass(frozen=True)
class Middle:
    """The median of a measure over the units of a block that have it, limits taken as limits."""

    value: float
    n: int
    limits: int
    beyond: int = 0

    def __str__(self) -> str:
        """Write it, as a limit where it is one."""
        return f"{'<' if self.beyond < 0 else '>' if self.beyond else ''}{self.value:.3g}"


def middle(units: xr.Dataset, name: str) -> Middle | None:
    """Give the median of a measure; None where no unit has it."""
    values = units[name].values
    good = np.isfinite(values)
    if not good.any():
        return None
    sides = limit_sides(units, name)[good]
    value, beyond = median_with_limits(values[good].astype(np.float64), sides)
    return Middle(value, int(good.sum()), int((sides != 0).sum()), beyond)


def level_claims(measures: xr.Dataset, growth: xr.Dataset | None) -> list[Claim]:
    """Describe how each block relates to the one before.

    Parameters
    ----------
    measures : xarray.Dataset
        From `measure_units`, of one block or several.
    growth : xarray.Dataset or None
        From `field_growth`, of all blocks.

    Returns
    -------
    list of Claim
        Ratios, without interval and without verdict. Published ratios of successive areas (V2 / V1 1.1 to 2, V4 / V1
        1.6 to 7) are no yardstick: strides alone give 2 for each block.
    """
    claims: list[Claim] = []
    if growth is not None:
        claims += growth_levels(growth)
    for (before, units), (after, others) in itertools.pairwise(by_block(measures).items()):
        stride = float(units["highest_frequency"].values[0] / others["highest_frequency"].values[0])
        for name, words in MEASURES.items():
            pair = [middle(one, name) for one in (units, others)] if name in measures else [None]
            if any(one is None for one in pair):
                continue
            first, second = (one for one in pair if one is not None)
            claims.append(level_claim((before, after), words, (first, second), stride))
    return claims


def growth_levels(growth: xr.Dataset) -> list[Claim]:
    """Describe the growth of the local field at T by second moments, of the few units whose growth was measured."""
    sigma, spacing, blocks = growth["sigma"].values[:, -1], growth["spacing"].values, growth["block"].values.tolist()
    return [
        Claim(
            f"block {after} over {before}: sigma of the local field at T, ratio",
            int(growth["units"].values[i + 1]),
            "units of one network",
            float(sigma[i + 1] / sigma[i]),
            NONE,
            Control("the stride alone", float(spacing[i + 1] / spacing[i])),
            f"From block {before} to {after} the local field's sigma goes from {sigma[i]:.2f} to {sigma[i + 1]:.2f} "
            f"pixels, a ratio of {sigma[i + 1] / sigma[i]:.2f}; the stride alone gives "
            f"{spacing[i + 1] / spacing[i]:.2g}{clipped_words(growth, i)}. This is described, without a verdict.",
        )
        for i, (before, after) in enumerate(itertools.pairwise(blocks))
    ]


def clipped_words(growth: xr.Dataset, i: int) -> str:
    """Say how many of the fields of two blocks at T are limits, since they leave the image; nothing if none is."""
    counts = [(int(growth["clipped"].values[at, -1]), int(growth["units"].values[at])) for at in (i, i + 1)]
    if not any(count for count, _ in counts):
        return ""
    return "; " + " and ".join(f"{count} of {n}" for count, n in counts) + " are limits, since they leave the image"


def level_claim(blocks: tuple[int, int], words: str, pair: tuple[Middle, Middle], stride: float) -> Claim:
    """Describe one ratio of medians."""
    first, second = pair
    ratio = second.value / first.value
    falls = words == "preferred spatial frequency"
    expected = 1 / stride if falls else stride
    limits = f"; {first.limits} of {first.n} and {second.limits} of {second.n} are limits"
    return Claim(
        f"block {blocks[1]} over {blocks[0]}: {words}, ratio of medians",
        second.n,
        "units of one network",
        ratio,
        NONE,
        Control("the stride alone", expected),
        f"From block {blocks[0]} to {blocks[1]} the median {words} goes from {first} to {second}, "
        f"a ratio of {ratio:.2g}; the stride alone gives {expected:.2g}{limits}. "
        "This is described, without a verdict.",
    )
