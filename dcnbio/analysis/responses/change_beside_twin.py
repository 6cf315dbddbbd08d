"""What an intervention changes in a network, in its untrained twin, and more in the one than in the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.claim import finite, limit_word
from dcnbio.analysis.responses.generators import Beside
from dcnbio.analysis.responses.limits import KnownValues
from dcnbio.analysis.responses.medians import LEAST, RESAMPLES, UnitMedian, difference_of_medians, median_of_values
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["ChangeBesideTwin", "change_in_accuracy", "change_in_units"]

Right = NDArray[np.bool_]
NO_TWIN = Interval.none("no untrained network beside it")
OVER_IMAGES = "percentile bootstrap over the same images"


@dataclass(frozen=True)
class ChangeBesideTwin:
    """What one intervention does to one measure.

    Attributes
    ----------
    measure, units : str
    change : UnitMedian
        Of the paired changes of units that have the measure before and after; of accuracy, the mean over images.
    untrained : UnitMedian or None
        The same of the untrained twin; None where it was not measured.
    more : float
        Change minus untrained; NaN where it does not exist.
    more_interval : Interval
        Of it: over the units of both networks, drawn independently since a unit of the one is none of the other; or
        over images, which both networks are shown and which are drawn together.
    by_law : UnitMedian or None
        What the contrast-time law gives for the change from responses at a lower contrast; None where it gives nothing.
    intervention : str
    block : int or None
        None for accuracy, which no block has alone.
    """

    measure: str
    units: str
    change: UnitMedian
    untrained: UnitMedian | None = None
    more: float = math.nan
    more_interval: Interval = NO_TWIN
    by_law: UnitMedian | None = None
    intervention: str = ""
    block: int | None = None

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference exists and leaves out 0."""
        return self.more_interval.exists and 0.0 not in self.more_interval

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON; a number or interval that does not exist is None."""
        medians = {"change": self.change, "untrained": self.untrained, "by_contrast_time_law": self.by_law}
        value = {key: None if found is None else finite(found.value) for key, found in medians.items()}
        limits = {key: word for key, found in medians.items() if found for word in limit_word(found.beyond).values()}
        return {
            "intervention": self.intervention,
            "block": self.block,
            "measure": self.measure,
            "units": self.units,
            "n": self.change.n,
            "change": value["change"],
            "interval": self.change.interval.to_list(),
            "by_contrast_time_law": value["by_contrast_time_law"],
            "n_untrained": 0 if self.untrained is None else self.untrained.n,
            "untrained": value["untrained"],
            "untrained_interval": None if self.untrained is None else self.untrained.interval.to_list(),
            "trained_minus_untrained": finite(self.more),
            "trained_minus_untrained_interval": self.more_interval.to_list(),
            "interval_method": self.more_interval.method or self.more_interval.reason,
            "limits": limits,
        }


def change_in_units(
    name: tuple[str, str], changes: KnownValues, untrained: KnownValues | None, draws: Beside
) -> ChangeBesideTwin:
    """Set the paired changes of a network's units beside those of its untrained twin's.

    Parameters
    ----------
    name : (measure, unit)
    changes : KnownValues
        After minus before of the same unit, NaN where it lacks the measure, and which of them are limits.
    untrained : KnownValues or None
        The same of the untrained network.
    draws : Beside
        Generators of the bootstraps.

    Returns
    -------
    ChangeBesideTwin

    Examples
    --------
    >>> here, there = KnownValues(np.full(8, 3.0)), KnownValues(np.full(8, 1.0))
    >>> one = change_in_units(("f1_f0", "1"), here, there, Beside(*np.random.default_rng(0).spawn(3)))
    >>> one.change.value, one.untrained.value, one.more, one.differs
    (3.0, 1.0, 2.0, True)
    """
    found = ChangeBesideTwin(*name, median_of_values(changes.values, draws.network, changes.sides))
    if untrained is None:
        return found
    there = median_of_values(untrained.values, draws.untrained, untrained.sides)
    both = (changes.sides, untrained.sides)
    more, interval = difference_of_medians(changes.values, untrained.values, draws.difference, both)
    return replace(found, untrained=there, more=more, more_interval=interval)


def change_in_accuracy(
    right: tuple[Right, Right], untrained: tuple[Right, Right] | None, draws: Beside
) -> ChangeBesideTwin:
    """Set the change of accuracy beside the untrained twin's, image by image.

    Parameters
    ----------
    right : two bool arrays [image]
        Whether the network named each image right, before and after.
    untrained : two bool arrays [image] or None
        The same of the untrained network, on the same images.
    draws : Beside
        Generators of the bootstraps.

    Returns
    -------
    ChangeBesideTwin

    Examples
    --------
    >>> none, all_right = np.zeros(20, bool), np.ones(20, bool)
    >>> half = np.arange(20) < 10
    >>> draws = Beside(*np.random.default_rng(0).spawn(3))
    >>> lost = change_in_accuracy((all_right, half), (none, none), draws)
    >>> lost.change.value, lost.untrained.value, lost.more, lost.differs
    (-0.5, 0.0, -0.5, True)
    """
    here = difference(right)
    found = ChangeBesideTwin("accuracy", "1", mean_over_images(here, draws.network))
    if untrained is None:
        return found
    there = difference(untrained)
    more = mean_over_images(here - there, draws.difference)
    theirs = mean_over_images(there, draws.untrained)
    return replace(found, untrained=theirs, more=more.value, more_interval=more.interval)


def difference(right: tuple[Right, Right]) -> Floats:
    """Give 1 for an image that is named right only after, -1 for one only before, 0 for others."""
    before, after = right
    changed: Floats = after.astype(np.float64) - before.astype(np.float64)
    return changed


def mean_over_images(values: Floats, rng: np.random.Generator) -> UnitMedian:
    """Give the mean over images, in the form of a median over units of which all is known."""
    mean = float(values.mean())
    return UnitMedian(mean, mean_interval(values, rng), values.size, 0, 0, (mean, mean))


def mean_interval(values: Floats, rng: np.random.Generator) -> Interval:
    """Resample images."""
    if values.size < LEAST:
        return Interval.none(f"{values.size} images are too few to resample (at least {LEAST})")
    if (values == values[0]).all():
        return Interval.none("every image changes alike, from which resampling cannot tell how sure that is")
    drawn = values[rng.integers(0, values.size, (RESAMPLES, values.size))].mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(low), float(high), 0.95, OVER_IMAGES)
