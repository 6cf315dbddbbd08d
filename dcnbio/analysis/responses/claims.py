"""What the units of a network show, each number beside the norm's or the law's prediction and the untrained network."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.medians import UnitMedian, median_of_values, unit_median
from dcnbio.analysis.shapes import Floats

__all__ = ["response_claims"]

LOW = 4.0  # the high contrast over the low one
PLAIN = {
    "circular_variance": "circular variance of orientation",
    "orientation_half_width": "half-width of orientation tuning (degrees)",
    "preferred_spatial_frequency": "preferred spatial frequency (cycles/pixel)",
    "spatial_frequency_bandwidth": "bandwidth of spatial frequency (octaves)",
    "bandwidth_index": "bandwidth index 100 f_low / f_high (percent)",
    "f1_f0": "F1 / F0",
    "zero_frequency_leakage": "response to uniform light over that to the best grating",
    "half_rise_time": "half-rise time (solver time)",
    "sign_reversals": "sign reversals of the response",
    "field_sigma_gradient": "sigma of the local field by gradient (pixels)",
    "field_sigma_noise": "sigma of the field by noise correlation (pixels)",
    "field_global_share": "share of the field that is the norms' global part",
}


def shown(value: float) -> str:
    """Write a number."""
    return "not known" if math.isnan(value) else f"{value:.3g}"


def ratio(measures: xr.Dataset, over: str, under: str) -> Floats:
    """Give log2 of one measure over another where both are known and no limits."""
    top, bottom = measures[over].values, measures[under].values
    good = np.isfinite(top) & np.isfinite(bottom) & (top > 0) & (bottom > 0)
    for name in (over, under):
        if f"censored_{name}" in measures:
            good &= ~measures[f"censored_{name}"].values
    found: Floats = np.full(top.shape, np.nan)
    found[good] = np.log2(top[good] / bottom[good])
    return found


def claim(name: str, found: UnitMedian, control: Control, sentence: str) -> Claim:
    """Put a median into words."""
    text = f"{sentence} ({found.caveat})." if found.caveat else f"{sentence}."
    return Claim(name, found.n, "units of one network", found.value, found.interval, control, text)


def untrained_control(untrained: xr.Dataset | None, name: str, rng: np.random.Generator) -> Control:
    """Give the same median of the untrained network."""
    if untrained is None or name not in untrained:
        return Control("untrained network: not measured")
    found = unit_median(untrained, name, rng)
    return Control("the same network untrained", found.value, found.interval)


def plain_claims(measures: xr.Dataset, untrained: xr.Dataset | None, rng: np.random.Generator) -> list[Claim]:
    """Give the medians that no norm and no law predicts."""
    claims = []
    for name, words in PLAIN.items():
        if name in measures:
            found, control = unit_median(measures, name, rng), untrained_control(untrained, name, rng)
            sentence = (
                f"In this network the median {words} is {shown(found.value)}; untrained {shown(control.estimate)}"
            )
            claims.append(claim(f"{words}, median", found, control, sentence))
    return claims


def responsive_claim(measures: xr.Dataset, untrained: xr.Dataset | None) -> Claim:
    """Say how many units respond."""
    from dcnbio.analysis.statistics.interval import Interval

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


def beyond_claim(
    name: str, parts: tuple[Floats, Floats, str], untrained: tuple[Floats, Floats] | None, rng: np.random.Generator
) -> Claim:
    """Set a measure beside its prediction, and what is left beside that of the untrained network."""
    measured, predicted, source = parts
    found, expected = median_of_values(measured, rng), median_of_values(predicted, rng)
    left = median_of_values(measured - predicted, rng)
    sentence = f"The median {name} is {shown(found.value)}, {source} {shown(expected.value)}, left {shown(left.value)}"
    if untrained is not None:
        rest = median_of_values(untrained[0] - untrained[1], rng)
        sentence += (
            f" [{shown(left.interval.low)}, {shown(left.interval.high)}]; untrained {shown(rest.value)}, "
            f"trained minus untrained {shown(left.value - rest.value)}"
        )
    return claim(f"{name}, median", found, Control(source, expected.value, expected.interval), sentence)


def suppression_parts(measures: xr.Dataset) -> tuple[Floats, Floats]:
    """Give suppression, and what of it the norm makes: that which goes when its statistics are frozen."""
    whole = measures["suppression_index"].values
    made: Floats = whole - measures["suppression_index_frozen"].values
    return whole, made


def growth_parts(measures: xr.Dataset) -> tuple[Floats, Floats]:
    """Give growth of the summation field at low contrast in octaves, measured and by the law."""
    low = "summation_diameter_low_contrast"
    return ratio(measures, low, "summation_diameter"), ratio(measures, low, "summation_diameter_law")


def latency_parts(measures: xr.Dataset) -> tuple[Floats, Floats]:
    """Give the change of the peak time at low contrast in octaves, measured and by the law."""
    measured = ratio(measures, "peak_time_low_contrast", "peak_time")
    return measured, np.where(np.isfinite(measured), -math.log2(LOW), np.nan)


def saturation_parts(measures: xr.Dataset) -> tuple[Floats, Floats]:
    """Give log2 c50, measured and by the law."""
    found = []
    for name in ("c50", "c50_law"):
        values = measures[name].values.copy()
        values[measures[f"censored_{name}"].values] = np.nan
        found.append(np.log2(values))
    return found[0], found[1]


BEYOND = {
    "suppression_index_frozen": ("suppression index", suppression_parts, "what freezing the norms takes away"),
    "summation_diameter_law": ("growth of the summation field at a quarter contrast (octaves)", growth_parts, "by law"),
    "peak_time_law": ("change of peak time at a quarter contrast (octaves)", latency_parts, "by law"),
    "c50_law": ("log2 c50 (octaves)", saturation_parts, "by law"),
}


def fit_claim(measures: xr.Dataset) -> Claim:
    """Count the contrast responses that Naka and Rushton's function describes."""
    from dcnbio.analysis.statistics.interval import Interval

    n = measures.sizes["unit"]
    fitted = np.isfinite(measures["c50"].values) & ~measures["censored_c50"].values
    good = fitted & (measures["r_squared"].values > 0.9)
    by_law = np.isfinite(measures["c50_law"].values) & ~measures["censored_c50_law"].values
    return Claim(
        "share of units with a Naka-Rushton fit that can be read",
        n,
        "units of one network",
        float(good.mean()),
        Interval.none("a count of all units of this network, no sample"),
        Control("share with one by the contrast-time law", float(by_law.mean())),
        f"Naka and Rushton's function describes {good.sum()} of {n} units (R2 above 0.9, c50 within the contrasts "
        f"shown); the others do not saturate, fall with contrast, or are silent.",
    )


def response_claims(measures: xr.Dataset, untrained: xr.Dataset | None, rng: np.random.Generator) -> list[Claim]:
    """State what was measured, with controls.

    Parameters
    ----------
    measures : xarray.Dataset
        From `measure_units`.
    untrained : xarray.Dataset or None
        The same of the untrained network.
    rng : numpy.random.Generator
        Of the bootstrap over units.

    Returns
    -------
    list of Claim
    """
    claims = [responsive_claim(measures, untrained), *plain_claims(measures, untrained, rng)]
    for needed, (name, parts, source) in BEYOND.items():
        if needed in measures:
            other = parts(untrained) if untrained is not None and needed in untrained else None
            claims.append(beyond_claim(name, (*parts(measures), source), other, rng))
    if "c50" in measures:
        claims.append(fit_claim(measures))
    return claims
