"""Which family describes filters that it was not fitted to: held-out log-likelihood, no channel on both sides."""

from __future__ import annotations

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
        the log-normal is better.
    interval : Interval
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
        Nats per value, for "log-normal", "gamma", "weibull", "normal" and "inverse-gaussian".

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
    found = {family: np.empty(x.shape) for family in FAMILIES}
    for row in np.unique(rows):
        for column in np.unique(columns):
            held = np.ix_(rows == row, columns == column)
            kept = x[np.ix_((rows != row) | (rows < 0), (columns != column) | (columns < 0))].ravel()
            refuse_constant(kept)
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
        One per other family.

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
    gains = [densities["log-normal"] - densities[family] for family in others]
    found = two_way_bootstrap(mean_statistic(*gains), rng, resamples)
    return [HeldOut(family, float(found.estimate[k]), found.tail_interval(k)) for k, family in enumerate(others)]
