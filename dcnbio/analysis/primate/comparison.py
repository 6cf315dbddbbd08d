"""One comparison: a statistic of a network's units beside a published one, with its draws, bound and controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.claim import limit_word
from dcnbio.analysis.primate.distributions import distribution
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.placement import worst_cases
from dcnbio.analysis.primate.published import PublishedHistogram
from dcnbio.analysis.primate.resampling import DRAWS, at_ends, sample_draws, stated, unit_draws
from dcnbio.analysis.primate.statistic import STATISTICS
from dcnbio.analysis.statistics.open_ends import closed, open_percentiles

__all__ = ["Bound", "Comparison", "Published", "Question", "compared"]

LEAST = 8  # units; fewer say nothing of a distribution

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Published:
    """What is published: a histogram, or a number alone.

    Attributes
    ----------
    source : str
    histogram : PublishedHistogram or None
    elsewhere : tuple of PublishedHistogram
        The same cut to a range that lies elsewhere, where it is not known where the network's lies: a verdict must
        stand under all.
    value : float
        Where there is no histogram.
    error : float
        Standard error of the value; 0 where none is published.
    """

    source: str
    histogram: PublishedHistogram | None = None
    elsewhere: tuple[PublishedHistogram, ...] = ()
    value: float = np.nan
    error: float = 0.0

    @property
    def n(self) -> int | None:
        """Cells; None where they are not stated."""
        return None if self.histogram is None else self.histogram.n


@dataclass(frozen=True)
class Bound:
    """The largest difference that is called like, fixed before any network is seen.

    Attributes
    ----------
    value : float or None
        None where nothing published fixes one: the comparison is then described without verdict.
    source : str
        Where it comes from, or why there is none.
    """

    value: float | None
    source: str


@dataclass(frozen=True, eq=False)
class Question:
    """What is compared.

    Attributes
    ----------
    name, unit : str
    statistic : str
        "sd", "skewness", "mean", "median" or "slope".
    published : Published
    bound : Bound
    about : str
        What the reader should know of it.
    """

    name: str
    unit: str
    statistic: str
    published: Published
    bound: Bound
    about: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out.

    Attributes
    ----------
    question : Question
    units : Units
    model, data : float
        The statistic of both.
    draws : float array or None
        Draws of model minus data, infinite where a median lies beyond all that is known; None where there are too few
        units.
    own_draws : float array or None
        Of the model alone.
    others : tuple of (str, float, float array)
        Other readings under which a verdict must stand: what they are, their effect, their draws.
    verdict : str or None
    holm_level : float
        Of the interval that is adjusted for all comparisons.
    reason : str
    controls : mapping
    limit : int
        1 where all that is known of the model, a median, is that it lies above what stands, -1 below it; else 0. The
        draws are then of values and limits as they stand.
    """

    question: Question
    units: Units
    model: float
    data: float
    draws: Floats | None
    own_draws: Floats | None = None
    others: tuple[tuple[str, float, Floats], ...] = ()
    verdict: str | None = None
    holm_level: float = 0.95
    reason: str = ""
    controls: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 0

    @property
    def effect(self) -> float:
        """Model minus data."""
        return self.model - self.data

    def ends(self, level: float = 0.95) -> tuple[float, float]:
        """Give the percentiles of the effect's draws, of which one may be infinite; NaN where there are no draws."""
        if self.draws is None:
            return np.nan, np.nan
        return open_percentiles(self.draws, ((1 - level) / 2, (1 + level) / 2))

    def interval(self, level: float = 0.95) -> list[float] | None:
        """Give the interval of the effect, or None: a limit has none, nor what ends beyond all that is known."""
        low, high = self.ends(level)
        return None if self.limit or not closed(low, high)[0] else [low, high]

    def worst_case(self) -> list[float] | None:
        """Give the least and the largest effect of all readings, or None where there is one alone."""
        effects = [self.effect, *(effect for _, effect, _ in self.others)]
        return [min(effects), max(effects)] if self.others else None

    def to_dict(self) -> dict[str, Any]:
        """Give plain values."""
        asked, units = self.question, self.units
        judged = self.draws is not None and asked.bound.value is not None
        return {
            "name": asked.name,
            "unit": asked.unit,
            "statistic": asked.statistic,
            "n_model": units.n,
            "n_data": asked.published.n,
            "n_missing": units.missing,
            "n_censored": units.censored,
            "n_outside": units.outside,
            "model": finite(self.model),
            "data": finite(self.data),
            "effect": finite(self.effect),
            "interval": self.interval(),
            "interval_90": self.interval(0.90),
            "interval_holm": self.interval(self.holm_level) if judged else None,
            "holm_level": self.holm_level if judged else None,
            "worst_case": self.worst_case(),
            "readings": [{"if": name, "effect": effect} for name, effect, _ in self.others],
            "bound": asked.bound.value,
            "bound_source": asked.bound.source,
            "verdict": self.verdict,
            "reason": self.reason,
            "source": asked.published.source,
            "distribution": distribution(units, asked.published.histogram),
            "controls": dict(self.controls),
            **limit_word(self.limit),
        }


def finite(value: float) -> float | None:
    """Give a number, or None where it is none."""
    return float(value) if np.isfinite(value) else None


def histogram_draws(
    statistic: str, histogram: PublishedHistogram, rng: np.random.Generator, draws: int
) -> tuple[float, Floats]:
    """Give a published statistic and draws of it."""
    values = histogram.spread_values()
    return float(STATISTICS[statistic](values)), sample_draws(statistic, values, histogram.resampled(rng, draws))


def compared(question: Question, units: Units, rng: np.random.Generator, draws: int = DRAWS) -> Comparison:
    """Compare, resampling units on one side and published cells on the other.

    Parameters
    ----------
    question : Question
    units : Units
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    Comparison
        Without a verdict, which is given to all of them together; with a reason where there can be none.
    """
    found, statistic = question.published, question.statistic
    if found.histogram is None:
        data, data_draws = found.value, found.value + found.error * rng.standard_normal(draws)
    else:
        data, data_draws = histogram_draws(statistic, found.histogram, rng, draws)
    if units.known < LEAST:
        why = f"only {units.known} units have this measure, and {LEAST} are needed"
        return Comparison(question, units, np.nan, data, None, reason=why)
    model, limit = stated(statistic, units)
    if np.isnan(model):
        why = "nothing is known of the median: half of what is known lies above limits, half below"
        return Comparison(question, units, np.nan, data, None, reason=why)
    seen, others = units, []
    if limit:
        seen = units.as_they_stand()
        beyond = unit_draws(statistic, units, rng, draws) - data_draws
        said = "what lies beyond all that is known lies at its end"
        others.append((said, at_ends(statistic, units) - data, beyond))
    own = unit_draws(statistic, seen, rng, draws)
    for name, one in zip(("lowest", "highest"), worst_cases(statistic, units), strict=False):
        said = f"units without a known value lie where the statistic is {name}"
        others.append((said, at_ends(statistic, one) - data, unit_draws(statistic, one, rng, draws) - data_draws))
    for one_elsewhere in found.elsewhere:
        value, of_it = histogram_draws(statistic, one_elsewhere, rng, draws)
        low, high = one_elsewhere.limits
        said = f"what was shown corresponds to {2**low:.3g} to {2**high:.3g} {one_elsewhere.unit}"
        others.append((said, model - value, own - of_it))
    about = question.about
    return Comparison(question, units, model, data, own - data_draws, own, tuple(others), reason=about, limit=limit)
