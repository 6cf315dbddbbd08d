"""What is said of the scales that layers share among their filters: how wide they lie, and whether log-normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.scales.initialisation import AgainstStart, against_start
from dcnbio.analysis.scales.network import NetworkScales
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.goodness_of_fit import GoodnessOfFit, lognormal_goodness_of_fit
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.lognormal import LogNormal, fit_lognormal
from dcnbio.analysis.statistics.t_interval import t_interval

__all__ = ["fit_test", "shared_scale_claim", "spread_of_layers", "spread_over_networks"]


def shared_scale_claim(networks: Sequence[NetworkScales], rng: np.random.Generator) -> list[Claim]:
    """Fit a log-normal to the scales that layers share, which are few, and compare them with their start.

    Of one network the layers are the sample. Layers of several networks of a row are not independent, since the same
    layer tends to the same scale in each: networks are then the sample, and s is theirs.
    """
    tables = [one.table.isel(layer=np.flatnonzero(one.table["per_pair"].values == 0)) for one in networks]
    tables = [table for table in tables if table.sizes["layer"]]
    if not tables:
        return []
    logs, octaves = [table["log2_sigma"].values for table in tables], float(tables[0]["start_sd"].values[0])
    one_each = max(one.size for one in logs) == 1
    about = of_one_sample if len(logs) == 1 or one_each else of_networks
    n, unit, s, interval, text = about(logs, octaves, rng)
    start = Control(f"s of the start, log2 sigma ~ N(0, {octaves:.2g})", octaves * math.log(2))
    name = f"{networks[0].row}: s of the log-normal fitted to the layers' scales"
    return [Claim(name, n, unit, s, interval, start, text)]


Found = tuple[int, str, float, Interval, str]


def of_one_sample(logs: Sequence[Floats], octaves: float, rng: np.random.Generator) -> Found:
    """Describe the layers of one network, or the one layer of each of several: independent scales."""
    sigma = np.exp2(np.concatenate(logs))
    fit = fit_lognormal(sigma)
    tested = in_words(lognormal_goodness_of_fit(sigma, rng))
    unit = "layers" if len(logs) == 1 else "networks of one layer"
    began = beside_start(against_start(sigma, octaves)) if octaves > 0 else beside_start(None)
    text = f"The {sigma.size} layers have median {fit.median:.2f} pixels and s = {fit.s:.2f} ({tested}); {began}."
    return sigma.size, unit, fit.s, spread_interval(sigma, fit), text


def of_networks(logs: Sequence[Floats], octaves: float, rng: np.random.Generator) -> Found:
    """Describe the layers of several networks, network by network."""
    s, interval = spread_over_networks(logs)
    median = float(np.exp2(np.concatenate(logs).mean()))
    sizes = sorted({one.size for one in logs})
    layers = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    began = beside_start(networks_against_start(logs, octaves, s, interval) if octaves > 0 else None)
    text = (
        f"The {layers} layers of each of {len(logs)} networks have median {median:.2f} pixels and s = {s:.2f} in the "
        f"mean over networks ({in_words(fit_test(logs, rng))}); {began}."
    )
    return len(logs), f"networks of {layers} layers", s, interval, text


def fit_test(logs: Sequence[Floats], rng: np.random.Generator, resamples: int = 999) -> GoodnessOfFit:
    """Test the layers of several networks against a log-normal, in which networks and layers have effects of their own.

    Parameters
    ----------
    logs : sequence of array, shape (layers,)
        log2 sigma of each network.
    rng : numpy.random.Generator
    resamples : int
        Simulated networks.
    """
    if len({one.size for one in logs}) > 1:
        every = sum(one.size for one in logs)
        return GoodnessOfFit(math.nan, math.nan, every, reason="none, since networks differ in their number of layers")
    return lognormal_goodness_of_fit(np.exp2(np.stack(logs)), rng, resamples)


def spread_of_layers(logs: Floats) -> float:
    """Give s of a network's layers without the bias that few have: sd / c4, which has the mean s if they are normal.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(0, 1 / np.log(2), size=(20_000, 3))
    >>> round(float(np.mean([spread_of_layers(one) for one in draws])), 2)
    1.0
    """
    n = logs.size
    c4 = math.sqrt(2 / (n - 1)) * math.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return float(logs.std(ddof=1)) * math.log(2) / c4


def spread_over_networks(logs: Sequence[Floats]) -> tuple[float, Interval]:
    """Give the mean over networks of the s that their layers have, with Student's interval over networks.

    Parameters
    ----------
    logs : sequence of array, shape (layers,)
        log2 sigma of each network; one of a single layer has no spread and is left out.
    """
    each = [spread_of_layers(one) for one in logs if one.size > 1]
    if max(each) == 0:
        return 0.0, Interval.none("all scales are equal")
    return float(np.mean(each)), t_interval(each)


def networks_against_start(logs: Sequence[Floats], octaves: float, s: float, interval: Interval) -> AgainstStart:
    """Compare with the start, where all scales are independent; limits are over networks, where they are not."""
    began, shift = against_start(np.exp2(np.concatenate(logs)), octaves), t_interval([one.mean() for one in logs])
    unit = octaves * math.log(2)
    return replace(
        began,
        spread=s / unit,
        shift_interval=(shift.low, shift.high),
        spread_interval=(max(interval.low, 0.0) / unit, interval.high / unit),
    )


def beside_start(began: AgainstStart | None) -> str:
    """Say how scales compare with their start; None is a start of equal scales."""
    return "before training all were equal" if began is None else began.sentence


def in_words(test: GoodnessOfFit) -> str:
    """Say what a test of fit gave, or why there is none."""
    return f"test of fit: {test.reason}" if test.reason else f"test of fit p = {test.p:.2g}"


def spread_interval(sigma: Floats, fit: LogNormal) -> Interval:
    """Give the interval of s of independent layers, or why there is none."""
    if fit.degenerate or sigma.size < 2:
        return Interval.none("all scales are equal" if sigma.size > 1 else "one scale has no spread")
    n = sigma.size
    low, high = (fit.s * math.sqrt(n / chi2.ppf(at, n - 1)) for at in (0.975, 0.025))
    return Interval(float(low), float(high), 0.95, "chi-square, independent layers")
