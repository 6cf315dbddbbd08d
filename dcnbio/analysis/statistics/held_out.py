"""Which family describes filters that it was not fitted to: held-out log-likelihood, no channel on both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats, Integers
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.families import FAMILIES, refuse_constant
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.moment_statistic import mean_statistic
from dcnbio.analysis.statistics.sample import positive_sample
from dcnbio.errors import InputError

__all__ = ["HeldOut", "held_out_log_likelihood", "log_likelihood_gain"]

FOLDS = 4


@dataclass(frozen=True)
class HeldOut:
    """How much better a log-normal describes held-out values than another family.

    Attributes
    ----------
    family : str
        The other family.
    gain : float
        Mean held-out log-likelihood of the log-normal minus that of the family, in nats per filter; positive where
        the log-normal is better. NaN where the families could not be fitted to each part.
    interval : Interval
        Or why there is none.
    """

    family: str
    gain: float
    interval: Interval


def folds_of(size: int, rng: np.random.Generator) -> Integers:
    """Deal channels to folds at random, equally; one channel alone is in none (-1) and never held out."""
    if size == 1:
        return np.full(1, -1)
    return rng.permutation(np.arange(size) % min(FOLDS, size))


def held_out_log_likelihood(grid: ArrayLike, rng: np.random.Generator) -> dict[str, Floats]:
    """Give each value's log density under families that were fitted without its row and its column.

    Parameters
    ----------
    grid : array, shape (rows, columns)
        Positive values. Rows and columns are dealt to four folds each; a block of cells is held out together with all
        other cells of its rows and columns, because filters that share a channel are not independent. With one row
        or column, the values themselves are dealt.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to array, shape (rows, columns)
        Nats per value, for "log-normal", "gamma", "weibull", "normal" and "inverse-gaussian"; NaN where the values that
        were kept for the fit are all equal.

    Raises
    ------
    InputError
        If values are not positive, all equal, or under 20.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = held_out_log_likelihood(rng.gamma(2.0, size=(30, 30)), rng)
    >>> bool(found["gamma"].mean() > found["log-normal"].mean())
    True
    """
    x = positive_sample(grid)
    if x.ndim != 2 or x.size < 20:
        raise InputError(f"grid has shape {x.shape}; holding out needs (output, input) with at least 20 values.")
    refuse_constant(x)
    rows, columns = folds_of(x.shape[0], rng), folds_of(x.shape[1], rng)
    found = {family: np.full(x.shape, np.nan) for family in FAMILIES}
    for row in np.unique(rows):
        for column in np.unique(columns):
            held = np.ix_(rows == row, columns == column)
            kept = x[np.ix_((rows != row) | (rows < 0), (columns != column) | (columns < 0))].ravel()
            if kept.min() == kept.max():
                continue
            for family, fit in FAMILIES.items():
                found[family][held] = fit(kept)(x[held])
    return found


def log_likelihood_gain(grid: ArrayLike, rng: np.random.Generator, resamples: int = 1999) -> list[HeldOut]:
    """Compare the log-normal with each other family on held-out filters, with clustered intervals.

    Parameters
    ----------
    grid : array_like, shape (output, input)
        Scales of a layer's filters, above 0.
    rng : numpy.random.Generator
        Of the parts and of the bootstrap.
    resamples : int
        Of the bootstrap, which draws outputs and inputs.

    Returns
    -------
    list of HeldOut
        One per other family; without an interval where families could not be fitted to all parts, or a value has no
        density at all under one.

    Raises
    ------
    InputError
        If a value is not finite and positive, or the grid is too small to be divided.

    Notes
    -----
    Values far out in the tail decide a gain, so its interval is the calibrated BCa interval: of log-normals on 32 x 33
    channels it covers 92 to 96 %, where the percentile interval covers 91 to 94 %.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> [found.gain > 0 for found in log_likelihood_gain(rng.lognormal(size=(30, 30)), rng, resamples=199)]
    [True, True, True, True]
    """
    densities = held_out_log_likelihood(grid, rng)
    others = [family for family in FAMILIES if family != "log-normal"]
    gains = {family: densities["log-normal"] - densities[family] for family in others}
    usual = [family for family in others if np.isfinite(gains[family]).all()]
    found = two_way_bootstrap(mean_statistic(*(gains[family] for family in usual)), rng, resamples) if usual else None
    return [
        HeldOut(family, float(found.estimate[usual.index(family)]), found.tail_interval(usual.index(family)))
        if found is not None and family in usual
        else without_interval(family, gains[family])
        for family in others
    ]


def without_interval(family: str, gains: Floats) -> HeldOut:
    """Say why a gain has no interval."""
    if np.isnan(gains).any():
        return HeldOut(family, math.nan, Interval.none("values differ in so few channels that a part of them is equal"))
    beyond = int(np.isinf(gains).sum())
    return HeldOut(family, math.inf, Interval.none(f"{beyond} of {gains.size} values have no density under the other"))
