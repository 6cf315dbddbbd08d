"""Results beside their prediction: what remains beyond the law or the norms, trained minus untrained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import xarray as xr

from dcnbio.analysis.claim import Claim, finite, limit_word
from dcnbio.analysis.responses.generators import beside, generator_of
from dcnbio.analysis.responses.limits import KnownValues
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
        return self.measured.claim(f"{self.name}, median", self.predicted.control(SOURCES[self.by]), text)


def beyond_predictions(measures: xr.Dataset, untrained: xr.Dataset | None, seed: int = 0) -> list[Beyond]:
    """Set every result that the law or the norms predict beside the prediction and the untrained network.

    Parameters
    ----------
    measures : xarray.Dataset
        Of the units of one block.
    untrained : xarray.Dataset or None
        The same of the untrained network.
    seed : int
        Of the bootstrap over units.

    Returns
    -------
    list of Beyond
        Of those that were recorded.
    """
    return [
        beyond(prediction, measures, untrained, seed)
        for prediction in PREDICTIONS
        if all(name in measures for name in prediction.needs)
    ]


def medians(prediction: Prediction, measures: xr.Dataset, seed: int) -> dict[str, UnitMedian]:
    """Give the medians of the parts of one result, each with draws of its own."""
    parts, silent = prediction.parts(measures), unresponsive(measures)
    found = {}
    for part in ("measured", "predicted", "frozen", "left"):
        values: KnownValues = getattr(parts, part)
        rng = generator_of(seed, measures, prediction.name, part)
        doubted = silent if part == "measured" else None
        found[part] = median_of_values(values.values, rng, values.sides, doubted)
    return found


def beyond(prediction: Prediction, measures: xr.Dataset, untrained: xr.Dataset | None, seed: int) -> Beyond:
    """Set one result beside its prediction."""
    mine = medians(prediction, measures, seed)
    about = prediction.name, prediction.short, prediction.by
    found = Beyond(*about, mine["measured"], mine["predicted"], mine["frozen"], mine["left"])
    if untrained is None or not all(name in untrained for name in prediction.needs):
        return found
    theirs = medians(prediction, untrained, seed)
    left, other_left = (prediction.parts(one).left for one in (measures, untrained))
    rng = beside(seed, measures, untrained, prediction.name).difference
    remains, interval = difference_of_medians(left.values, other_left.values, rng)
    return replace(
        found, untrained=theirs["measured"], untrained_left=theirs["left"], remains=remains, interval=interval
    )
