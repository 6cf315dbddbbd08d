"""What an intervention changes: accuracy, and every measure of the same units before and after."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.measure_names import MEASURES
from dcnbio.analysis.responses.medians import median_of_values
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["change_of", "intervention_claims"]

OCTAVES = ("preferred_spatial_frequency", "summation_diameter", "field_sigma_gradient", "field_sigma_moments", "c50")
REPORTED = (
    "maximum_response",
    "circular_variance",
    "preferred_spatial_frequency",
    "spatial_frequency_bandwidth",
    "f1_f0",
    "summation_diameter",
    "suppression_index",
    "c50",
    "peak_time",
    "field_sigma_gradient",
    "field_sigma_moments",
)


def change_of(before: xr.Dataset, after: xr.Dataset, name: str) -> Floats:
    """Give the paired change of a measure of every unit: in octaves for sizes, frequencies and contrasts.

    Parameters
    ----------
    before, after : xarray.Dataset
        Of the same units.
    name : str

    Returns
    -------
    array [unit]
        NaN where a unit lacks the measure before or after.

    Examples
    --------
    >>> one, two = (xr.Dataset({"c50": ("unit", [value])}) for value in (0.1, 0.4))
    >>> change_of(one, two, "c50").tolist()
    [2.0]
    """
    old, new = before[name].values.astype(np.float64), after[name].values.astype(np.float64)
    if name not in OCTAVES:
        difference: Floats = new - old
        return difference
    good = (old > 0) & (new > 0)
    found: Floats = np.full(old.shape, np.nan)
    found[good] = np.log2(new[good] / old[good])
    return found


def intervention_claims(
    measures: xr.Dataset, changed: Mapping[str, xr.Dataset], accuracy: Mapping[str, float], rng: np.random.Generator
) -> list[Claim]:
    """Say what each intervention changes.

    Parameters
    ----------
    measures : xarray.Dataset
        Without intervention.
    changed : mapping of str to xarray.Dataset
        Under each intervention.
    accuracy : mapping of str to float
        Of the same images, with the key "none" for no intervention; empty if it was not measured.
    rng : numpy.random.Generator

    Returns
    -------
    list of Claim
    """
    claims = []
    for intervention, after in changed.items():
        if intervention in accuracy:
            claims.append(accuracy_claim(intervention, accuracy))
        for name in REPORTED:
            if name not in measures or name not in after:
                continue
            found = median_of_values(change_of(measures, after, name), rng)
            units = "octaves" if name in OCTAVES else MEASURES[name][1]
            sentence = f"{intervention} changes {MEASURES[name][0]} by {found.value:+.3g} {units} in the median unit"
            text = f"{sentence} ({found.caveat})." if found.caveat else f"{sentence}."
            control = Control("no intervention", 0.0)
            label = f"{intervention}: change of {name} ({units}), median"
            claims.append(Claim(label, found.n, "units of one network", found.value, found.interval, control, text))
    return claims


def accuracy_claim(intervention: str, accuracy: Mapping[str, float]) -> Claim:
    """Say what an intervention does to accuracy."""
    before, after = accuracy["none"], accuracy[intervention]
    n = int(accuracy["n"])
    return Claim(
        f"{intervention}: accuracy",
        n,
        "images",
        after,
        Interval.none("the same images with and without: the difference is what was done, for this network"),
        Control("no intervention", before),
        f"{intervention} takes this network's accuracy on {n} images from {100 * before:.1f} to {100 * after:.1f} %.",
    )
