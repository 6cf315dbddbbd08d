"""What an intervention changes: accuracy, and every measure of the same units before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.measure_names import MEASURES
from dcnbio.analysis.responses.medians import difference_of_medians, median_of_values
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["Changed", "change_of", "intervention_claims"]

OCTAVES = (
    "preferred_spatial_frequency",
    "summation_diameter",
    "summation_diameter_low_contrast",
    "surround_diameter",
    "field_sigma_gradient",
    "field_sigma_moments",
    "field_sigma_noise",
    "maximum_response",
    "c50",
)
NO_CHANGE = {"best_orientation", "best_spatial_frequency", "best_phase", "preferred_orientation"}
NO_CHANGE |= {"field_centre_y", "field_centre_x"}  # places and angles, whose change says nothing of a response
REPORTED = tuple(name for name in MEASURES if name not in NO_CHANGE and not name.endswith(("_law", "_frozen", "_held")))


@dataclass(frozen=True)
class Changed:
    """A network under interventions.

    Attributes
    ----------
    measures : xarray.Dataset
        Without intervention.
    changed : mapping of str to xarray.Dataset
        Under each.
    accuracy : mapping of str to float
        On the same images, under each and "none", and "n", how many; empty if it was not measured.
    """

    measures: xr.Dataset
    changed: Mapping[str, xr.Dataset]
    accuracy: Mapping[str, float]


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


def intervention_claims(network: Changed, untrained: Changed | None, rng: np.random.Generator) -> list[Claim]:
    """Say what each intervention changes, in this network and in its untrained twin.

    Parameters
    ----------
    network : Changed
    untrained : Changed or None
        The same of the untrained network.
    rng : numpy.random.Generator

    Returns
    -------
    list of Claim
        For each intervention, block and measure the median change of the same units; the control is that in the
        untrained network, or no change where there is none.
    """
    claims = []
    for intervention in network.changed:
        if intervention in network.accuracy:
            claims.append(accuracy_claim(intervention, network.accuracy, untrained))
        before, after = by_block(network.measures), by_block(network.changed[intervention])
        for block in after:
            label = intervention if len(before) == 1 else f"{intervention}, block {block}"
            twin = twin_tables(untrained, intervention, block)
            for name in REPORTED:
                if name in before[block] and name in after[block]:
                    claims.append(change_claim(label, name, (before[block], after[block]), twin, rng))
    return claims


def twin_tables(untrained: Changed | None, intervention: str, block: int) -> tuple[xr.Dataset, xr.Dataset] | None:
    """Find the untrained network's units of a block before and after; None where they were not measured."""
    if untrained is None or intervention not in untrained.changed:
        return None
    return by_block(untrained.measures)[block], by_block(untrained.changed[intervention])[block]


def change_claim(
    label: str,
    name: str,
    tables: tuple[xr.Dataset, xr.Dataset],
    twin: tuple[xr.Dataset, xr.Dataset] | None,
    rng: np.random.Generator,
) -> Claim:
    """Say how one measure changes."""
    changes = change_of(*tables, name)
    found = median_of_values(changes, rng)
    units = "octaves" if name in OCTAVES else MEASURES[name][1]
    text = f"{label} changes {MEASURES[name][0]} by {found.value:+.3g} {units} in the median unit"
    control = Control("no change: untrained network not measured", 0.0)
    if twin is not None and name in twin[0] and name in twin[1]:
        theirs = change_of(*twin, name)
        other = median_of_values(theirs, rng)
        control = Control("the same in the untrained network", other.value, other.interval)
        text += f"; untrained {other.value:+.3g}"
        more, interval = difference_of_medians(changes, theirs, rng)
        limits = interval.to_list()
        if limits is not None:
            text += f", trained minus untrained {more:+.3g} [{limits[0]:.3g}, {limits[1]:.3g}]"
    text += f" ({found.caveat})." if found.caveat else "."
    about = f"{label}: change of {name} ({units}), median"
    return Claim(about, found.n, "units of one network", found.value, found.interval, control, text)


def accuracy_claim(intervention: str, accuracy: Mapping[str, float], untrained: Changed | None) -> Claim:
    """Say what an intervention does to accuracy."""
    before, after = accuracy["none"], accuracy[intervention]
    n = int(accuracy["n"])
    text = f"{intervention} takes this network's accuracy on {n} images from {100 * before:.1f} to {100 * after:.1f} %"
    if untrained is not None and intervention in untrained.accuracy:
        other = untrained.accuracy
        text += f", the untrained one's from {100 * other['none']:.1f} to {100 * other[intervention]:.1f} %"
    return Claim(
        f"{intervention}: accuracy",
        n,
        "images",
        after,
        Interval.none("the same images with and without: the difference is what was done, for this network"),
        Control("no intervention", before),
        f"{text}.",
    )
