"""What the units of a network show, each number beside the norm's or the law's prediction and the untrained network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.beyond import Beyond
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.medians import UnitMedian, unit_median
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


def claim(name: str, found: UnitMedian, control: Control, sentence: str) -> Claim:
    """Put a median into words."""
    text = f"{sentence} ({found.caveat})." if found.caveat else f"{sentence}."
    return Claim(name, found.n, "units of one network", found.value, found.interval, control, text, found.beyond)


def untrained_median(untrained: xr.Dataset | None, name: str, rng: np.random.Generator) -> UnitMedian | None:
    """Give the same median of the untrained network; None where it was not measured."""
    return None if untrained is None or name not in untrained else unit_median(untrained, name, rng)


def plain_claims(measures: xr.Dataset, untrained: xr.Dataset | None, rng: np.random.Generator) -> list[Claim]:
    """Give the medians that no norm and no law predicts."""
    claims = []
    for name, words in PLAIN.items():
        if name in measures:
            found, other = unit_median(measures, name, rng), untrained_median(untrained, name, rng)
            control = Control("untrained network: not measured")
            if other is not None:
                control = Control("the same network untrained", other.value, other.interval, other.beyond)
            beside = "not measured" if other is None else str(other)
            sentence = f"In this network the median {words} is {found}; untrained {beside}"
            claims.append(claim(f"{words}, median", found, control, sentence))
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


def fit_claim(measures: xr.Dataset) -> Claim:
    """Count the contrast responses that Naka and Rushton's function describes."""
    n = measures.sizes["unit"]
    fitted = np.isfinite(measures["c50"].values) & ~measures["censored_c50"].values
    good = fitted & (measures["r_squared"].values > 0.9)
    by_law = np.isfinite(measures["c50_law"].values) & ~measures["censored_c50_law"].values
    frozen = ""
    if {"c50_frozen", "censored_c50_frozen", "r_squared_frozen"} <= set(measures):
        there = np.isfinite(measures["c50_frozen"].values) & ~measures["censored_c50_frozen"].values
        there &= measures["r_squared_frozen"].values > 0.9
        frozen = f", and {there.sum()} with frozen norm statistics"
    return Claim(
        "share of units with a Naka-Rushton fit that can be read",
        n,
        "units of one network",
        float(good.mean()),
        Interval.none("a count of all units of this network, no sample"),
        Control("share with one by the contrast-time law", float(by_law.mean())),
        f"Naka and Rushton's function describes {good.sum()} of {n} units (R2 above 0.9, c50 within the contrasts "
        f"shown){frozen}; the others do not saturate, fall with contrast, or are silent.",
    )


def block_claims(
    measures: xr.Dataset, untrained: xr.Dataset | None, beyond: Sequence[Beyond], rng: np.random.Generator
) -> list[Claim]:
    """State what was measured in one block."""
    claims = [responsive_claim(measures, untrained), *plain_claims(measures, untrained, rng)]
    claims += [one.claim() for one in beyond]
    if "c50" in measures:
        claims.append(fit_claim(measures))
    return claims


def response_claims(
    measures: xr.Dataset,
    untrained: xr.Dataset | None,
    beyond: Mapping[int, Sequence[Beyond]],
    rng: np.random.Generator,
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
    rng : numpy.random.Generator
        Of the bootstrap over units.

    Returns
    -------
    list of Claim
        Their names begin with the block where several were recorded.
    """
    blocks, claims = by_block(measures), []
    others = {} if untrained is None else by_block(untrained)
    for block, units in blocks.items():
        for one in block_claims(units, others.get(block), beyond[block], rng):
            claims.append(one if len(blocks) == 1 else replace(one, name=f"block {block}: {one.name}"))
    return claims
