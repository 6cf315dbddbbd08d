"""Results beside their prediction: what remains beyond the law or the norms, trained minus untrained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control, finite, limit_word
from dcnbio.analysis.responses.medians import UnitMedian, difference_of_medians, median_of_values, unresponsive
from dcnbio.analysis.responses.predictions import PREDICTIONS, Prediction
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["Beyond", "beyond_predictions"]

SOURCES = {"law": "contrast-time law", "norm": "made by the norms"}


@dataclass(frozen=True)
class Beyond:
    """One result of one block: medians over units.

    Attributes
    ----------
    name, short, by : str
        See `Prediction`.
    measured, predicted, frozen, left : UnitMedian
    untrained, untrained_left : UnitMedian or None
        Of the untrained network.
    remains : float
        Left, trained minus untrained; NaN where there is no untrained network or a median does not exist.
    interval : Interval
        Of it, over units of the two networks.
    """

    name: str
    short: str
    by: str
    measured: UnitMedian
    predicted: UnitMedian
    frozen: UnitMedian
    left: UnitMedian
    untrained: UnitMedian | None = None
    untrained_left: UnitMedian | None = None
    remains: float = math.nan
    interval: Interval = field(default_factory=lambda: Interval.none("no untrained network beside it"))

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON; a number that does not exist is None."""
        medians = {
            "measured": self.measured,
            "predicted": self.predicted,
            "frozen": self.frozen,
            "left": self.left,
            "untrained": self.untrained,
            "untrained_left": self.untrained_left,
        }
        plain = {key: None if found is None else finite(found.value) for key, found in medians.items()}
        limits = {key: word for key, found in medians.items() if found for word in limit_word(found.beyond).values()}
        return {
            "name": self.name,
            "predicted_by": SOURCES[self.by],
            "n": self.measured.n,
            "n_left": self.left.n,
            "censored": self.measured.censored,
            **plain,
            "limits": limits,
            "left_interval": self.left.interval.to_list(),
            "trained_minus_untrained": finite(self.remains),
            "trained_minus_untrained_interval": self.interval.to_list(),
        }

    def claim(self) -> Claim:
        """Put it into words; the estimate is what was measured, the control what was predicted."""
        source = "by the contrast-time law" if self.by == "law" else "of which the norms make"
        text = (
            f"The median {self.name} is {self.measured}, {source} {self.predicted}, with frozen "
            f"statistics {self.frozen}; left {self.left}"
        )
        if self.untrained_left is not None:
            text += f", untrained {self.untrained_left}"
        limits = self.interval.to_list()
        if limits is not None:
            text += f", trained minus untrained {self.remains:.3g} [{limits[0]:.3g}, {limits[1]:.3g}]"
        text += f" ({self.measured.caveat})." if self.measured.caveat else "."
        control = Control(SOURCES[self.by], self.predicted.value, self.predicted.interval, self.predicted.beyond)
        found = self.measured
        about = (found.n, "units of one network", found.value, found.interval)
        return Claim(f"{self.name}, median", *about, control, text, found.beyond)


def beyond_predictions(measures: xr.Dataset, untrained: xr.Dataset | None, rng: np.random.Generator) -> list[Beyond]:
    """Set every result that the law or the norms predict beside the prediction and the untrained network.

    Parameters
    ----------
    measures : xarray.Dataset
        Of the units of one block.
    untrained : xarray.Dataset or None
        The same of the untrained network.
    rng : numpy.random.Generator
        Of the bootstrap over units.

    Returns
    -------
    list of Beyond
        Of those that were recorded.
    """
    return [
        beyond(prediction, measures, untrained, rng)
        for prediction in PREDICTIONS
        if all(name in measures for name in prediction.needs)
    ]


def beyond(
    prediction: Prediction, measures: xr.Dataset, untrained: xr.Dataset | None, rng: np.random.Generator
) -> Beyond:
    """Set one result beside its prediction."""
    mine = prediction.parts(measures)
    predicted, frozen = (median_of_values(one.values, rng, one.sides) for one in (mine.predicted, mine.frozen))
    found = Beyond(
        prediction.name,
        prediction.short,
        prediction.by,
        median_of_values(mine.measured.values, rng, mine.measured.sides, unresponsive(measures)),
        predicted,
        frozen,
        median_of_values(mine.left, rng),
    )
    if untrained is None or not all(name in untrained for name in prediction.needs):
        return found
    theirs = prediction.parts(untrained)
    remains, interval = difference_of_medians(mine.left, theirs.left, rng)
    other = median_of_values(theirs.measured.values, rng, theirs.measured.sides, unresponsive(untrained))
    return replace(
        found, untrained=other, untrained_left=median_of_values(theirs.left, rng), remains=remains, interval=interval
    )
