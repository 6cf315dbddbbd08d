"""Scales against the distribution they start from, which is a log-normal before any training."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from scipy.stats import chi2, kstest

from dcnbio.analysis.statistics.goodness_of_fit import LEAST_N
from dcnbio.analysis.statistics.sample import positive_sample

__all__ = ["INITIAL_OCTAVES", "INITIAL_OCTAVES_IN_TIME", "AgainstStart", "against_start", "start_octaves"]

INITIAL_OCTAVES = 2 / 3
"""log2 sigma starts as N(0, 2/3), in octaves, so sigma starts log-normal with s = 0.462 and skewness 1.58."""

INITIAL_OCTAVES_IN_TIME = 0.1
"""Where filters change with solver time, log2 sigma at t = 0 starts as N(0, 0.1)."""


def start_octaves(start: str, in_time: bool) -> float:
    """Give the standard deviation that log2 sigma has over untrained networks, in octaves.

    Parameters
    ----------
    start : str
        Where scales begin: "constant" has none; "log2-uniform" has that of "paper".
    in_time : bool
        Whether filters change with solver time.

    Examples
    --------
    >>> start_octaves("constant", in_time=False), start_octaves("paper", in_time=True)
    (0.0, 0.1)
    """
    if start == "constant":
        return 0.0
    return INITIAL_OCTAVES_IN_TIME if in_time else INITIAL_OCTAVES


@dataclass(frozen=True)
class AgainstStart:
    """How a sample of scales compares with the distribution it is drawn from before training.

    Attributes
    ----------
    shift, spread : float
        Mean of log2 sigma in octaves (0 at the start), and its standard deviation over the start's (1 at the start).
    shift_interval, spread_interval : tuple of float
        95 %, for independent values.
    distance, p : float
        Largest distance from the starting distribution, and the p of the exact Kolmogorov-Smirnov test. Nothing is
        fitted, and initial values are independent, so it is valid.
    n : int
    """

    shift: float
    spread: float
    shift_interval: tuple[float, float]
    spread_interval: tuple[float, float]
    distance: float
    p: float
    n: int

    @property
    def sentence(self) -> str:
        """Say it in words."""
        if self.p < 0.05:
            return (
                f"differs from initialisation: mean shift {self.shift:+.2f} octaves, spread {self.spread:.2f} times "
                f"the initial (n = {self.n}, D = {self.distance:.3f}, p = {self.p:.2g})"
            )
        if self.n < LEAST_N:
            # so few are seldom told from anything: only a rejection means something
            return f"n too small to tell from initialisation ({self.n} of at least {LEAST_N}){self.so_far}"
        return f"not distinguishable from initialisation (n = {self.n}, D = {self.distance:.3f}, p = {self.p:.2g})"

    @property
    def so_far(self) -> str:
        """Say where so few scales lie, with the intervals that tell how little that is; nothing of one scale."""
        if self.n < 2:
            return ""
        shift, spread = (
            "{:+.2f} to {:+.2f}".format(*self.shift_interval),
            "{:.2f} to {:.2f}".format(*self.spread_interval),
        )
        return (
            f": mean shift {self.shift:+.2f} octaves (95 % interval {shift}), "
            f"spread {self.spread:.2f} times the initial ({spread})"
        )


def against_start(sigma: ArrayLike, octaves: float = INITIAL_OCTAVES) -> AgainstStart:
    """Compare scales with the distribution they are drawn from before training, log2 sigma ~ N(0, 2/3).

    Parameters
    ----------
    sigma : array, any shape
        Scales in pixels, at least one.
    octaves : float
        Standard deviation of the start, above 0; see `start_octaves`.

    Returns
    -------
    AgainstStart

    Raises
    ------
    InputError
        If a scale is not positive and finite.

    Notes
    -----
    Where the initial values themselves are known, `scale_change` is sharper: it pairs them.

    Examples
    --------
    >>> sigma = 2 ** np.random.default_rng(0).normal(0, 2 / 3, size=1000)
    >>> against_start(sigma).sentence.startswith("not distinguishable from initialisation")
    True
    """
    logs = np.log2(positive_sample(sigma).ravel())
    n = logs.size
    mean, sd = float(logs.mean()), float(logs.std(ddof=1)) if n > 1 else math.nan
    half = float(stdtrit(n - 1, 0.975)) * sd / math.sqrt(n) if n > 1 else math.nan
    ratio = sd / octaves
    limits = np.sqrt((n - 1) / chi2.ppf([0.975, 0.025], n - 1)) if n > 1 else np.full(2, np.nan)
    test = kstest(logs, "norm", args=(0.0, octaves))
    return AgainstStart(
        shift=mean,
        spread=ratio,
        shift_interval=(mean - half, mean + half),
        spread_interval=(ratio * float(limits[0]), ratio * float(limits[1])),
        distance=float(test.statistic),
        p=float(test.pvalue),
        n=n,
    )
