"""One comparison: a statistic of a network's units beside a published one, with its draws, bound and controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.published import PublishedHistogram
from dcnbio.analysis.primate.statistic import STATISTICS

__all__ = ["Comparison", "Published", "Question", "compared"]

DRAWS = 1999
LEAST = 8  # units; fewer say nothing of a distribution

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Published:
    """What is published: a histogram, or a number alone.

    Attributes
    ----------
    source : str
    histogram : PublishedHistogram or None
    value : float
        Where there is no histogram.
    n : int or None
        None where it is not stated.
    """

    source: str
    histogram: PublishedHistogram | None = None
    value: float = np.nan
    n: int | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """What is compared.

    Attributes
    ----------
    name, unit : str
    statistic : str
        One of `STATISTICS`.
    published : Published
    bound : float
        Largest difference that is called like; fixed beforehand.
    bound_source : str
        Where it comes from.
    about : str
        What the reader should know of it.
    """

    name: str
    unit: str
    statistic: str
    published: Published
    bound: float
    bound_source: str
    about: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out.

    Attributes
    ----------
    question : Question
    n_model : int
    missing, censored : int
        Units without a value, and units whose value is a limit.
    model, data : float
        The statistic of both.
    draws : float array or None
        Bootstrap draws of model minus data; None where there are too few units.
    verdict : str or None
    reason : str
    controls : mapping
    """

    question: Question
    n_model: int
    missing: int
    censored: int
    model: float
    data: float
    draws: Floats | None
    verdict: str | None = None
    reason: str = ""
    controls: Mapping[str, Any] = field(default_factory=dict)

    @property
    def effect(self) -> float:
        """Model minus data."""
        return self.model - self.data

    def interval(self, level: float = 0.95) -> list[float] | None:
        """Give the percentile interval of the effect, or None."""
        if self.draws is None:
            return None
        low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
        return [float(low), float(high)]

    def to_dict(self) -> dict[str, Any]:
        """Give plain values."""
        known = np.isfinite(self.effect)
        return {
            "name": self.question.name,
            "unit": self.question.unit,
            "statistic": self.question.statistic,
            "n_model": self.n_model,
            "n_data": self.question.published.n,
            "n_missing": self.missing,
            "n_censored": self.censored,
            "model": self.model if np.isfinite(self.model) else None,
            "data": self.data if np.isfinite(self.data) else None,
            "effect": self.effect if known else None,
            "interval": self.interval(),
            "interval_90": self.interval(0.90),
            "bound": self.question.bound if np.isfinite(self.question.bound) else None,
            "bound_source": self.question.bound_source,
            "verdict": self.verdict,
            "reason": self.reason,
            "source": self.question.published.source,
            "controls": dict(self.controls),
        }


def data_statistic(question: Question, draws: int, rng: np.random.Generator) -> tuple[float, Floats | float]:
    """Give the published statistic, and bootstrap draws of it where its counts are known."""
    found, statistic = question.published, STATISTICS[question.statistic]
    if found.histogram is None:
        return found.value, found.value
    return float(statistic(found.histogram.spread_values())), statistic(found.histogram.resampled(rng, draws))


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
    statistic = STATISTICS[question.statistic]
    data, data_draws = data_statistic(question, draws, rng)
    n = units.values.shape[-1]
    if n < LEAST:
        why = f"only {n} units have this measure, and {LEAST} are needed"
        return Comparison(question, n, units.missing, units.censored, np.nan, data, None, None, why)
    picked = rng.integers(0, n, (draws, n))
    samples = units.values[picked] if units.values.ndim == 1 else np.moveaxis(units.values[:, picked], 0, 1)
    model = float(statistic(units.values))
    return Comparison(
        question, n, units.missing, units.censored, model, data, statistic(samples) - data_draws, None, question.about
    )
