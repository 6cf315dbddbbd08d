"""The distribution of sigma over a convolution's filters (figure 3b), and how far it is from log-normal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.equivalence import Equivalence, equivalence
from dcnbio.analysis.statistics.goodness_of_fit import GoodnessOfFit, lognormal_goodness_of_fit
from dcnbio.analysis.statistics.held_out import HeldOut, log_likelihood_gain
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.lognormal import LogNormal, fit_lognormal
from dcnbio.analysis.statistics.misfit_limit import misfit_bootstrap, misfit_limits
from dcnbio.analysis.statistics.moment_statistic import shape_statistic
from dcnbio.analysis.statistics.ordered_statistic import LShape, OrderedGrid
from dcnbio.analysis.statistics.sample import positive_sample
from dcnbio.errors import InputError

__all__ = ["Estimate", "ScaleDistribution", "scale_distribution", "shape_estimates"]


@dataclass(frozen=True)
class Estimate:
    """A number and its interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class ScaleDistribution:
    """The distribution of the scales of one convolution.

    Attributes
    ----------
    fit : LogNormal
        Maximum likelihood, location 0.
    filters, energy : mapping of str to Estimate
        Each filter counted once, or with its energy (sigma is free where alpha is near 0; None where no energies were
        given): ``log2_mean``, ``log2_sd`` (octaves), ``skewness`` of sigma, ``l_skewness`` and ``l_kurtosis`` of log
        sigma, ``largest`` (D from the fitted log-normal) and ``moved`` (Wasserstein distance from it, octaves). Their
        intervals are an upper limit at 95 %, with 0 as the lower; only D of the filters counted once has a lower limit.
    fit_test : GoodnessOfFit
    against : list of HeldOut
        Held-out log-likelihood against other families; empty where the values are too few or equal.
    equivalence : Equivalence
        D against the bound; it says nothing where all scales are equal, see `verdict`.
    """

    fit: LogNormal
    filters: Mapping[str, Estimate]
    energy: Mapping[str, Estimate] | None
    fit_test: GoodnessOfFit
    against: list[HeldOut]
    equivalence: Equivalence

    @property
    def verdict(self) -> str:
        """That of the equivalence; "all equal" where there is one scale alone, which is no distribution."""
        return "all equal" if self.fit.degenerate else self.equivalence.verdict


def shape_estimates(
    sigma: Floats, rng: np.random.Generator, resamples: int, base: Floats | None = None
) -> dict[str, Estimate]:
    """Give location, spread, shape and misfit of scales, shape (output, input), with clustered intervals.

    Parameters
    ----------
    sigma : array, shape (output, input)
        Scales in pixels.
    rng : numpy.random.Generator
    resamples : int
    base : array, shape (output, input), optional
        Weights of the filters, for instance their energies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = shape_estimates(2 ** rng.normal(0, 2 / 3, size=(32, 32)), rng, resamples=199)
    >>> 2 / 3 in found["log2_sd"].interval, 0.0 in found["l_skewness"].interval
    (True, True)
    """
    logs = np.log2(sigma)
    of_logs = two_way_bootstrap(shape_statistic(logs, base), rng, resamples)
    of_sigma = two_way_bootstrap(shape_statistic(sigma, base), rng, resamples)
    shape = two_way_bootstrap(LShape(OrderedGrid.of(logs, base)), rng, resamples)
    misfit = misfit_bootstrap(logs, rng, resamples, base)
    return {
        "log2_mean": Estimate(float(of_logs.estimate[0]), of_logs.interval(0)),
        "log2_sd": Estimate(float(of_logs.estimate[1]), of_logs.interval(1)),
        "skewness": Estimate(float(of_sigma.estimate[2]), of_sigma.tail_interval(2)),
        "l_skewness": Estimate(float(shape.estimate[0]), shape.interval(0)),
        "l_kurtosis": Estimate(float(shape.estimate[1]), shape.interval(1)),
        "largest": Estimate(float(misfit.estimate[0]), misfit.upper(0)),
        "moved": Estimate(float(misfit.estimate[1]), misfit.upper(1)),
    }


def scale_distribution(
    sigma: Floats, rng: np.random.Generator, resamples: int = 1999, energy: Floats | None = None
) -> ScaleDistribution:
    """Describe the scales of one convolution and measure how far from log-normal they are.

    Parameters
    ----------
    sigma : array, shape (output, input)
        Scales in pixels. One row or column (the time channel) is resampled along the other.
    rng : numpy.random.Generator
    resamples : int
        Of the bootstraps; the test of fit uses at most 999.
    energy : array, shape (output, input), optional
        Energy of each filter.

    Returns
    -------
    ScaleDistribution

    Raises
    ------
    InputError
        If scales are not positive, or energies not of their shape, negative or all 0.

    Notes
    -----
    Scales start log-normal: read it beside the start (`scale_change`). With 16,384 filters the test rejects
    departures that matter to nobody; the verdict rests on the limits of D.

    L-skewness and L-kurtosis are those of the empirical distribution, which weights and resamples have too, and differ
    from the unbiased ones of `l_moments` by about 1 / n. ``moved`` takes the normal's function as straight between
    neighbouring values, which makes 2 % at 256 filters and 0.5 % from 1,000 on; `normal_misfit` gives it exactly.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = scale_distribution(2 ** rng.normal(0, 2 / 3, size=(64, 65)), rng, resamples=199)
    >>> found.fit_test.p > 0.05, max(found.against, key=lambda other: other.gain).family
    (True, 'normal')
    """
    sigma = positive_sample(sigma)
    if sigma.ndim != 2:
        raise InputError(f"sigma has shape {sigma.shape}; the scales of a convolution are (output, input).")
    fit = fit_lognormal(sigma)
    filters = shape_estimates(sigma, rng, resamples)
    test = lognormal_goodness_of_fit(sigma if min(sigma.shape) > 1 else sigma.ravel(), rng, min(resamples, 999))
    against = [] if fit.degenerate or sigma.size < 20 else log_likelihood_gain(sigma, rng, resamples)
    weighted = None if energy is None else shape_estimates(sigma, rng, resamples, checked_energy(energy, sigma))
    largest = filters["largest"].value
    limits = misfit_limits(largest, filters["largest"].interval, test.chance)
    filters["largest"] = Estimate(largest, limits)
    return ScaleDistribution(fit, filters, weighted, test, against, equivalence(largest, limits))


def checked_energy(energy: Floats, sigma: Floats) -> Floats:
    """Give energies as weights, or say why they are none."""
    if energy.shape != sigma.shape or not np.isfinite(energy).all() or energy.min() < 0 or energy.max() == 0:
        raise InputError(
            f"energy has shape {energy.shape} and range {np.min(energy):g} to {np.max(energy):g}; it needs one finite "
            f"value of 0 or more per filter, shape {sigma.shape}, not all 0."
        )
    return energy
