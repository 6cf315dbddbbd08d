"""Growth of fields and fall of preferred frequency from block to block, beside what the strides alone make."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control, limit_mark
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.limits import limit_sides
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.survival import median_with_limits

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
        return f"{limit_mark(self.beyond)}{self.value:.3g}" if math.isfinite(self.value) else "not known"


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


def ratio_of(over: Middle, under: Middle) -> tuple[float, int]:
    """Give the ratio of two positive medians, and on which side of it the truth lies where one is a limit.

    Of two limits on the same side the ratio is not known: NaN.

    Examples
    --------
    >>> ratio_of(Middle(6.0, 5, 3, 1), Middle(2.0, 5, 0)), ratio_of(Middle(6.0, 5, 0), Middle(2.0, 5, 3, 1))
    ((3.0, 1), (3.0, -1))
    >>> ratio_of(Middle(6.0, 5, 3, 1), Middle(2.0, 5, 3, 1))
    (nan, 0)
    """
    if over.beyond * under.beyond > 0:
        return math.nan, 0
    ratio = over.value / under.value
    return ratio, int(np.sign(over.beyond - under.beyond)) if math.isfinite(ratio) else 0


def ratio_words(ratio: float, limit: int, digits: str) -> str:
    """Say what a ratio is, or that it is not known."""
    return f"a ratio of {limit_mark(limit)}{ratio:{digits}}" if math.isfinite(ratio) else "a ratio that is not known"


def growth_levels(growth: xr.Dataset) -> list[Claim]:
    """Describe the growth of the local field at T by second moments, of the few units whose growth was measured."""
    spacing, blocks = growth["spacing"].values, growth["block"].values.tolist()
    sigma, units, clipped, limit = (
        growth[name].values[..., -1].tolist() if "time" in growth[name].dims else growth[name].values.tolist()
        for name in ("sigma", "units", "clipped", "limit")
    )
    sigmas = [Middle(*one) for one in zip(sigma, units, clipped, limit, strict=True)]
    return [
        growth_level(
            (before, after), (sigmas[i], sigmas[i + 1]), float(spacing[i + 1] / spacing[i]), clipped_words(growth, i)
        )
        for i, (before, after) in enumerate(itertools.pairwise(blocks))
    ]


def growth_level(blocks: tuple[int, int], pair: tuple[Middle, Middle], stride: float, clipped: str) -> Claim:
    """Describe the ratio of the local fields of two blocks."""
    (first, second), (before, after) = pair, blocks
    ratio, limit = ratio_of(second, first)
    said = [f"{limit_mark(one.beyond)}{one.value:.2f}" for one in pair]
    return Claim(
        f"block {after} over {before}: sigma of the local field at T, ratio",
        second.n,
        "units of one network",
        ratio,
        NONE,
        Control("the stride alone", stride),
        f"From block {before} to {after} the local field's sigma goes from {said[0]} to {said[1]} pixels, "
        f"{ratio_words(ratio, limit, '.2f')}; the stride alone gives {stride:.2g}{clipped}. This is described, without "
        "a verdict.",
        limit,
    )


def clipped_words(growth: xr.Dataset, i: int) -> str:
    """Say how many of the fields of two blocks at T are limits, since they leave the image; nothing if none is."""
    counts = [(int(growth["clipped"].values[at, -1]), int(growth["units"].values[at])) for at in (i, i + 1)]
    if not any(count for count, _ in counts):
        return ""
    return "; " + " and ".join(f"{count} of {n}" for count, n in counts) + " are limits, since they leave the image"


def level_claim(blocks: tuple[int, int], words: str, pair: tuple[Middle, Middle], stride: float) -> Claim:
    """Describe one ratio of medians."""
    first, second = pair
    ratio, limit = ratio_of(second, first)
    expected = 1 / stride if words == "preferred spatial frequency" else stride
    limits = f"; {first.limits} of {first.n} and {second.limits} of {second.n} are limits"
    return Claim(
        f"block {blocks[1]} over {blocks[0]}: {words}, ratio of medians",
        second.n,
        "units of one network",
        ratio,
        NONE,
        Control("the stride alone", expected),
        f"From block {blocks[0]} to {blocks[1]} the median {words} goes from {first} to {second}, "
        f"{ratio_words(ratio, limit, '.2g')}; the stride alone gives {expected:.2g}{limits}. "
        "This is described, without a verdict.",
        limit,
    )
