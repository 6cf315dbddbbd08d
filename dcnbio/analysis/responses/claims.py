"""What the units of a network show, each number beside the norm's or the law's prediction and the untrained network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.beyond import Beyond
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.generators import generator_of
from dcnbio.analysis.responses.medians import unit_median
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["response_claims"]

PLAIN = {
    "circular_variance": "circular variance of orientation",
    "orientation_half_width": "half-width of orientation tuning (degrees)",
    "preferred_spatial_frequency": "preferred spatial frequency (cycles/pixel)",
    "spatial_frequency_bandwidth": "bandwidth of spatial frequency (octaves)",
    "bandwidth_index": "bandwidth index 100 f_low / f_high (percent)",
    "f1_f0": "F1 / F0",
    "eps_share_low_contrast": "share of eps in the first norm's variance at the lowest contrast",
    "eps_share_small_grating": "share of eps in the first norm's variance, smallest grating at a quarter contrast",
    "blank_error": "error of z of the blank that responses are measured against",
    "zero_frequency_leakage": "response to uniform light over that to the best grating",
    "field_sigma_moments": "sigma of the local field by second moments (pixels)",
    "field_sigma_gradient": "sigma of a Gaussian fitted to the local field's energy (pixels)",
    "field_sigma_noise": "sigma of the field by noise correlation (pixels)",
    "field_global_share": "share of the field that is the norms' global part",
}


def plain_claims(measures: xr.Dataset, untrained: xr.Dataset | None, seed: int) -> list[Claim]:
    """Give the medians that no norm and no law predicts."""
    claims = []
    for name, words in PLAIN.items():
        if name in measures:
            found = unit_median(measures, name, generator_of(seed, measures, name))
            control, beside = Control("untrained network: not measured"), "not measured"
            if untrained is not None and name in untrained:
                other = unit_median(untrained, name, generator_of(seed, untrained, name))
                control, beside = other.control("the same network untrained"), str(other)
            sentence = f"In this network the median {words} is {found}; untrained {beside}"
            claims.append(found.claim(f"{words}, median", control, sentence))
    return claims


def responsive_claim(measures: xr.Dataset, untrained: xr.Dataset | None) -> Claim:
    """Say how many units respond."""
    share = float(measures["responsive"].mean())
    other = float("nan") if untrained is None else float(untrained["responsive"].mean())
    n = measures.sizes["unit"]
    return Claim(
        "share of responsive units",
        n,
        "units of one network",
        share,
        Interval.none("a count of all units of this network, no sample"),
        Control("the same network untrained", other),
        f"{round(share * n)} of {n} units respond with a tenth of the median or more; all stay in n.",
    )


def read_fits(measures: xr.Dataset, suffix: str = "") -> int:
    """Count the units whose contrast response Naka and Rushton's function describes, c50 within the contrasts shown."""
    limits = measures.get(f"censored_c50{suffix}")
    known = np.isfinite(measures[f"c50{suffix}"].values)
    return int((known if limits is None else known & ~limits.values.astype(bool)).sum())


def fit_claim(measures: xr.Dataset) -> Claim:
    """Count the contrast responses that Naka and Rushton's function describes."""
    n, good = measures.sizes["unit"], read_fits(measures)
    by_law = read_fits(measures, "_law") / n if "c50_law" in measures else math.nan
    frozen = ""
    if "c50_frozen" in measures:
        frozen = f", and {read_fits(measures, '_frozen')} with frozen norm statistics"
    return Claim(
        "share of units with a Naka-Rushton fit that can be read",
        n,
        "units of one network",
        good / n,
        Interval.none("a count of all units of this network, no sample"),
        Control("share with one by the contrast-time law", by_law),
        f"Naka and Rushton's function describes {good} of {n} units (R2 above 0.9, exponent off its bounds, c50 within "
        f"the contrasts shown){frozen}; the others do not saturate, fall with contrast, or are silent.",
    )


def block_claims(
    measures: xr.Dataset, untrained: xr.Dataset | None, beyond: Sequence[Beyond], seed: int
) -> list[Claim]:
    """State what was measured in one block."""
    claims = [responsive_claim(measures, untrained), *plain_claims(measures, untrained, seed)]
    claims += [one.claim() for one in beyond]
    if "c50" in measures:
        claims.append(fit_claim(measures))
    return claims


def response_claims(
    measures: xr.Dataset,
    untrained: xr.Dataset | None,
    beyond: Mapping[int, Sequence[Beyond]],
    seed: int,
) -> list[Claim]:
    """State what was measured, block by block, with controls.

    Parameters
    ----------
    measures : xarray.Dataset
        From `measure_units`.
    untrained : xarray.Dataset or None
        The same of the untrained network.
    beyond : mapping of int to sequence of Beyond
        Results beside their predictions, of every block.
    seed : int
        Of the bootstrap over units.

    Returns
    -------
    list of Claim
        Their names begin with the block where several were recorded.
    """
    blocks, claims = by_block(measures), []
    others = {} if untrained is None else by_block(untrained)
    for block, units in blocks.items():
        for one in block_claims(units, others.get(block), beyond[block], seed):
            claims.append(one if len(blocks) == 1 else replace(one, name=f"block {block}: {one.name}"))
    return claims
