"""What interventions change: accuracy, and every measure of the same units, beside an untrained twin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control, limit_mark
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.change_beside_twin import (
    ChangeBesideTwin,
    Right,
    change_in_accuracy,
    change_in_units,
)
from dcnbio.analysis.responses.generators import beside, generator_of
from dcnbio.analysis.responses.limits import KnownValues, limit_sides
from dcnbio.analysis.responses.measure_names import MEASURES
from dcnbio.analysis.responses.medians import UnitMedian, median_of_values
from dcnbio.analysis.shapes import Floats

__all__ = ["Changed", "accuracy_of", "change_of", "changes_beside_twin", "intervention_claims"]

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
NO_CHANGE |= {"eps_share_low_contrast", "eps_share_small_grating", "blank_error"}  # of the stimuli
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
    right : mapping of str to bool array [image]
        Whether it names each of the same images right, under each and "none"; empty if accuracy was not measured.
    """

    measures: xr.Dataset
    changed: Mapping[str, xr.Dataset]
    right: Mapping[str, Right] = field(default_factory=dict)


def accuracy_of(right: Mapping[str, Right]) -> dict[str, float]:
    """Give accuracy under each intervention and "none", and "n", how many images; empty if there are none.

    Parameters
    ----------
    right : mapping of str to bool array, shape (image,)
        By intervention and "none": which images were answered rightly.

    Returns
    -------
    dict of str to float
        Fractions, and the number of images.

    Examples
    --------
    >>> accuracy_of({"none": np.array([True, True]), "sigma=2": np.array([True, False])})
    {'n': 2.0, 'none': 1.0, 'sigma=2': 0.5}
    """
    if not right:
        return {}
    return {"n": float(len(right["none"]))} | {name: float(values.mean()) for name, values in right.items()}


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
    if name.removesuffix("_law") not in OCTAVES:
        difference: Floats = new - old
        return difference
    good = (old > 0) & (new > 0)
    found: Floats = np.full(old.shape, np.nan)
    found[good] = np.log2(new[good] / old[good])
    return found


def paired_change(tables: tuple[xr.Dataset, xr.Dataset], name: str) -> KnownValues:
    """Give the change of a measure of every unit, as a limit where it is one before or after.

    Where it is a limit on the same side before and after, nothing is known of the change: NaN, as where a unit lacks
    the measure before or after, such as a parameter of a fit that does not describe it.
    """
    old, new = (limit_sides(one, name) for one in tables)
    unknown = old * new > 0
    values = np.where(unknown, np.nan, change_of(*tables, name))
    return KnownValues(values, np.where(unknown, 0, np.sign(new - old)))


def changes_beside_twin(network: Changed, untrained: Changed | None, seed: int = 0) -> list[ChangeBesideTwin]:
    """Measure what each intervention changes, in this network and in its untrained twin.

    Parameters
    ----------
    network : Changed
    untrained : Changed or None
        The same of the untrained network.
    seed : int
        Of the resampling.

    Returns
    -------
    list of ChangeBesideTwin
        For each intervention accuracy, if it was measured, and for each block every measure.
    """
    found = []
    for name in network.changed:
        if name in network.right:
            before_and_after = network.right["none"], network.right[name]
            theirs = None
            if untrained is not None and name in untrained.right:
                theirs = untrained.right["none"], untrained.right[name]
            draws = beside(seed, network.measures, None if untrained is None else untrained.measures, name, "accuracy")
            found.append(replace(change_in_accuracy(before_and_after, theirs, draws), intervention=name))
        before, after = by_block(network.measures), by_block(network.changed[name])
        for block in after:
            twin = twin_tables(untrained, name, block)
            for one in block_changes((before[block], after[block]), twin, (seed, name)):
                found.append(replace(one, intervention=name, block=block))
    return found


def twin_tables(untrained: Changed | None, intervention: str, block: int) -> tuple[xr.Dataset, xr.Dataset] | None:
    """Find the untrained network's units of a block before and after; None where they were not measured."""
    if untrained is None or intervention not in untrained.changed:
        return None
    return by_block(untrained.measures)[block], by_block(untrained.changed[intervention])[block]


def block_changes(
    tables: tuple[xr.Dataset, xr.Dataset], twin: tuple[xr.Dataset, xr.Dataset] | None, part: tuple[int, str]
) -> list[ChangeBesideTwin]:
    """Measure what changes in the units of one block: all that was measured before and after; `part`: seed, name."""
    found, (seed, intervention) = [], part
    for name in REPORTED:
        if name in tables[0] and name in tables[1]:
            there = twin if twin is not None and name in twin[0] and name in twin[1] else None
            theirs = None if there is None else paired_change(there, name)
            units = "octaves" if name in OCTAVES else MEASURES[name][1]
            draws = beside(seed, tables[0], None if there is None else there[0], intervention, name)
            one = change_in_units((name, units), paired_change(tables, name), theirs, draws)
            law = f"{name}_law"
            if law in tables[0] and law in tables[1]:
                lawful, rng = paired_change(tables, law), generator_of(seed, tables[0], intervention, law)
                one = replace(one, by_law=median_of_values(lawful.values, rng, lawful.sides))
            found.append(one)
    return found


def intervention_claims(
    changes: list[ChangeBesideTwin], accuracy: Mapping[str, float], untrained: Mapping[str, float]
) -> list[Claim]:
    """Say what each intervention changes, in this network and in its untrained twin.

    Parameters
    ----------
    changes : list of ChangeBesideTwin
    accuracy, untrained : mapping of str to float
        Of both networks, from `accuracy_of`.

    Returns
    -------
    list of Claim
        The control of a change is that in the untrained network, or no change where there is none.
    """
    blocks = {one.block for one in changes if one.block is not None}
    return [
        accuracy_claim(one, accuracy, untrained) if one.block is None else change_claim(one, len(blocks))
        for one in changes
    ]


def more_text(one: ChangeBesideTwin, scale: float = 1.0, unit: str = "") -> str:
    """Write the difference of the changes; nothing where it has no interval."""
    limits = one.more_interval.to_list()
    if limits is None:
        return ""
    low, high = (scale * limit for limit in limits)
    return f", trained minus untrained {scale * one.more:+.3g}{unit} [{low:.3g}, {high:.3g}]"


def signed(found: UnitMedian) -> str:
    """Write a change, as a limit where it is one."""
    return f"{limit_mark(found.beyond)}{found.value:+.3g}" if math.isfinite(found.value) else "what is not known"


def change_claim(one: ChangeBesideTwin, blocks: int) -> Claim:
    """Say how one measure changes."""
    label = one.intervention if blocks == 1 else f"{one.intervention}, block {one.block}"
    words = MEASURES[one.measure][0]
    text = f"{label} changes {words} by {signed(one.change)} {one.units} in the median unit"
    if not one.change.n:
        text = f"{label}: no unit has a {words} both before and after"
    control = Control("no change: untrained network not measured", 0.0)
    if one.untrained is not None:
        control = one.untrained.control("the same in the untrained network")
        theirs = (
            f"untrained {signed(one.untrained)}" if one.untrained.n else "no unit of the untrained network has both"
        )
        text += f"; {theirs}{more_text(one)}"
    if one.by_law is not None and one.by_law.n:
        text += f"; by the contrast-time law, from a lower contrast, {signed(one.by_law)}"
    return one.change.claim(f"{label}: change of {one.measure} ({one.units}), median", control, text)


def accuracy_claim(one: ChangeBesideTwin, accuracy: Mapping[str, float], untrained: Mapping[str, float]) -> Claim:
    """Say what an intervention does to accuracy."""
    name, found = one.intervention, one.change
    before, after = 100 * accuracy["none"], 100 * accuracy[name]
    text = f"{name} takes this network's accuracy on {found.n} images from {before:.1f} to {after:.1f} %"
    control = Control("no change: untrained network not measured", 0.0)
    if one.untrained is not None:
        there = f"{100 * untrained['none']:.1f} to {100 * untrained[name]:.1f} %"
        text += f", the untrained one's from {there}{more_text(one, 100, ' points')}"
        control = one.untrained.control("the same in the untrained network")
    return Claim(f"{name}: change of accuracy", found.n, "images", found.value, found.interval, control, f"{text}.")
