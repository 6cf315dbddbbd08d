"""What an intervention changes in a network, in its untrained twin, and more in the one than in the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.claim import finite, limit_word
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
    n, n_untrained : int
        Units of the network, or images, that have the measure before and after.
    change, untrained : float
        The median of the paired changes of units, or the mean over images; NaN where it does not exist.
    interval, untrained_interval : Interval
    more : float
        Change minus untrained.
    more_interval : Interval
        Of it: over the units of both networks, drawn independently since a unit of the one is none of the other; or
        over images, which both networks are shown and which are drawn together.
    by_law : float
        What the contrast-time law gives for the change from responses at a lower contrast; NaN where it gives nothing.
    intervention : str
    block : int or None
        None for accuracy, which no block has alone.
    caveat : str
        What to bear in mind; empty if nothing.
    beside : bool
        Whether the untrained twin was measured.
    limit, untrained_limit : int
        1 where all that is known of the median is that it lies above what stands, -1 below it; else 0.
    """

    measure: str
    units: str
    n: int
    change: float
    interval: Interval
    n_untrained: int = 0
    untrained: float = math.nan
    untrained_interval: Interval = NO_TWIN
    more: float = math.nan
    more_interval: Interval = NO_TWIN
    by_law: float = math.nan
    intervention: str = ""
    block: int | None = None
    caveat: str = ""
    beside: bool = False
    limit: int = 0
    untrained_limit: int = 0

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference exists and leaves out 0."""
        return self.more_interval.exists and 0.0 not in self.more_interval

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON; a number or interval that does not exist is None."""
        medians = {"change": self.limit, "untrained": self.untrained_limit}
        return {
            "intervention": self.intervention,
            "block": self.block,
            "measure": self.measure,
            "units": self.units,
            "n": self.n,
            "change": finite(self.change),
            "interval": self.interval.to_list(),
            "by_contrast_time_law": finite(self.by_law),
            "n_untrained": self.n_untrained,
            "untrained": finite(self.untrained),
            "untrained_interval": self.untrained_interval.to_list(),
            "trained_minus_untrained": finite(self.more),
            "trained_minus_untrained_interval": self.more_interval.to_list(),
            "interval_method": self.more_interval.method or self.more_interval.reason,
            "limits": {key: word for key, limit in medians.items() for word in limit_word(limit).values()},
        }


def change_in_units(
    name: tuple[str, str], changes: KnownValues, untrained: KnownValues | None, rng: np.random.Generator
) -> ChangeBesideTwin:
    """Set the paired changes of a network's units beside those of its untrained twin's.

    Parameters
    ----------
    name : (measure, unit)
    changes : KnownValues
        After minus before of the same unit, NaN where it lacks the measure, and which of them are limits.
    untrained : KnownValues or None
        The same of the untrained network.
    rng : numpy.random.Generator

    Returns
    -------
    ChangeBesideTwin

    Examples
    --------
    >>> here, there = KnownValues(np.full(8, 3.0)), KnownValues(np.full(8, 1.0))
    >>> one = change_in_units(("f1_f0", "1"), here, there, np.random.default_rng(0))
    >>> one.change, one.untrained, one.more, one.differs
    (3.0, 1.0, 2.0, True)
    """
    here = median_of_values(changes.values, rng, changes.sides)
    found = ChangeBesideTwin(*name, here.n, here.value, here.interval, caveat=here.caveat, limit=here.beyond)
    if untrained is None:
        return found
    there: UnitMedian = median_of_values(untrained.values, rng, untrained.sides)
    more, interval = difference_of_medians(changes.values, untrained.values, rng, (changes.sides, untrained.sides))
    found = replace(found, n_untrained=there.n, untrained=there.value, untrained_interval=there.interval, beside=True)
    return replace(found, more=more, more_interval=interval, untrained_limit=there.beyond)


def change_in_accuracy(
    right: tuple[Right, Right], untrained: tuple[Right, Right] | None, rng: np.random.Generator
) -> ChangeBesideTwin:
    """Set the change of accuracy beside the untrained twin's, image by image.

    Parameters
    ----------
    right : two bool arrays [image]
        Whether the network named each image right, before and after.
    untrained : two bool arrays [image] or None
        The same of the untrained network, on the same images.
    rng : numpy.random.Generator

    Returns
    -------
    ChangeBesideTwin

    Examples
    --------
    >>> none, all_right = np.zeros(20, bool), np.ones(20, bool)
    >>> half = np.arange(20) < 10
    >>> lost = change_in_accuracy((all_right, half), (none, none), np.random.default_rng(0))
    >>> lost.change, lost.untrained, lost.more, lost.differs
    (-0.5, 0.0, -0.5, True)
    """
    here = difference(right)
    found = ChangeBesideTwin("accuracy", "1", here.size, float(here.mean()), mean_interval(here, rng))
    if untrained is None:
        return found
    there = difference(untrained)
    found = replace(found, n_untrained=there.size, untrained=float(there.mean()), beside=True)
    more = here - there
    return replace(
        found,
        untrained_interval=mean_interval(there, rng),
        more=float(more.mean()),
        more_interval=mean_interval(more, rng),
    )


def difference(right: tuple[Right, Right]) -> Floats:
    """Give 1 for an image that is named right only after, -1 for one only before, 0 for others."""
    before, after = right
    changed: Floats = after.astype(np.float64) - before.astype(np.float64)
    return changed


def mean_interval(values: Floats, rng: np.random.Generator) -> Interval:
    """Resample images."""
    if values.size < LEAST:
        return Interval.none(f"{values.size} images are too few to resample (at least {LEAST})")
    if (values == values[0]).all():
        return Interval.none("every image changes alike, from which resampling cannot tell how sure that is")
    drawn = values[rng.integers(0, values.size, (RESAMPLES, values.size))].mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(low), float(high), 0.95, OVER_IMAGES)
