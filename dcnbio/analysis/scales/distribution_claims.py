"""What is said of the distribution of sigma^{ji} in one convolution, each number beside its start."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.scales.change import ScaleChange, scale_change
from dcnbio.analysis.scales.distribution import Estimate, ScaleDistribution, scale_distribution, shape_estimates
from dcnbio.analysis.scales.initialisation import INITIAL_OCTAVES, AgainstStart, against_start
from dcnbio.analysis.scales.network import NetworkScales
from dcnbio.analysis.statistics.held_out import HeldOut
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.l_moments import NORMAL_L_KURTOSIS
from dcnbio.analysis.statistics.lognormal import LogNormal

__all__ = ["ConvolutionScales", "convolution_scales", "distribution_claims"]

EQUAL = "all scales are equal"
OF_START = 1999  # resamples of what is a control: 9,999 would take a third of the time for limits that --json alone has

UNIT = "filters of one network, clustered by channels"
START = LogNormal(0.0, INITIAL_OCTAVES * math.log(2))


@dataclass(frozen=True)
class ConvolutionScales:
    """All that is found about the scales of one per-pair convolution.

    Attributes
    ----------
    layer : str
    after : ScaleDistribution
    before : dict of str to Estimate, or None
        The start's location, spread, shape and misfit; None where it is not known.
    change : ScaleChange or None
    against : AgainstStart
    time_channel : ScaleDistribution or None
        Of the filters of the time channel, which are apart.
    """

    layer: str
    after: ScaleDistribution
    before: dict[str, Estimate] | None
    change: ScaleChange | None
    against: AgainstStart
    time_channel: ScaleDistribution | None


def convolution_scales(
    network: NetworkScales, layer: str, rng: np.random.Generator, resamples: int
) -> ConvolutionScales:
    """Analyse the scales of one per-pair convolution."""
    measures = network.measures[layer]
    sigma, energy = measures["sigma"].values, measures["energy"].values
    start, time_channel = network.scales_before(layer), network.time_channel_scales(layer)
    return ConvolutionScales(
        layer=layer,
        after=scale_distribution(sigma, rng, resamples, energy if energy.max() > 0 else None),
        before=None if start is None else shape_estimates(start, rng, min(resamples, OF_START)),
        change=None if start is None else scale_change(start, sigma, rng, resamples),
        against=against_start(sigma),
        time_channel=None if time_channel is None else scale_distribution(time_channel, rng, resamples),
    )


def control_of(found: ConvolutionScales, name: str) -> Control:
    """Give what the start has, or what a start of log2 sigma ~ N(0, 2/3) is expected to have."""
    if found.before is not None and name not in ("log2_mean", "log2_sd") and found.before["log2_sd"].value == 0:
        return Control("the same filters before training, whose scales are all equal: they have no distribution")
    if found.before is not None:
        return Control("the same filters before training", found.before[name].value, found.before[name].interval)
    expected = {
        "skewness": START.skewness,
        "l_skewness": 0.0,
        "l_kurtosis": NORMAL_L_KURTOSIS,
        "log2_sd": INITIAL_OCTAVES,
        "log2_mean": 0.0,
    }
    return Control("a start of log2 sigma ~ N(0, 2/3); this one's is not known", expected.get(name, 0.0))


def said(value: float, interval: Interval) -> str:
    """Write a number with its interval, or say why there is none."""
    if not math.isfinite(value):
        return f"not defined ({interval.reason})"
    return f"{value:.3f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval.exists else "")


def distribution_claims(network: NetworkScales, found: ConvolutionScales) -> list[Claim]:
    """Say how log-normal one convolution's scales are, and what training has to do with it."""
    where, n = f"{network.name} {found.layer}", found.after.fit.n
    claims = [misfit_claim(where, found)]
    texts = {
        "moved": "octaves that mass must move to reach the fitted log-normal (Wasserstein)",
        "skewness": "skewness of sigma",
        "l_skewness": "L-skewness of log sigma",
        "l_kurtosis": "L-kurtosis of log sigma",
        "log2_sd": "standard deviation of log2 sigma (octaves)",
    }
    for name, text in texts.items():
        estimate, control = found.after.filters[name], control_of(found, name)
        if found.after.fit.degenerate and name not in ("log2_sd",):
            estimate = Estimate(math.nan, Interval.none(EQUAL))
        against = f"{control.estimate:.3f}" if math.isfinite(control.estimate) else "not defined"
        sentence = f"{text}: {said(estimate.value, estimate.interval)}; {control.name}: {against}."
        claims.append(Claim(f"{where}: {text}", n, UNIT, estimate.value, estimate.interval, control, sentence))
    return [*claims, *energy_claim(where, found), *family_claims(where, found), *change_claims(where, found)] + (
        time_channel_claim(where, found)
    )


def misfit_claim(where: str, found: ConvolutionScales) -> Claim:
    """Give the headline: the size of the misfit against the bound."""
    after, verdict = found.after, found.after.equivalence
    words = {
        "within": f"log-normal within D < {verdict.bound}",
        "beyond": f"further from log-normal than D = {verdict.bound}",
        "cannot tell": f"too few independent channels to tell whether D < {verdict.bound}",
    }
    test = after.fit_test
    tested = test.reason or f"p = {test.p:.3g}: share of log-normal samples, fitted alike, with so large a D"
    memory = found.against.sentence
    if found.change is not None:
        memory = f"training made {100 * found.change.share.value:.0f} % of the final variance of log sigma"
    about = f"{where}: largest distance D from the fitted log-normal", after.fit.n, UNIT
    control = control_of(found, "largest")
    if after.fit.degenerate:
        sentence = f"every scale is equal, so there is no distribution that could be log-normal; {memory}."
        return Claim(*about, math.nan, Interval.none(EQUAL), control, sentence)
    sentence = f"{words[verdict.verdict]} (D = {verdict.distance:.4f}; {tested}); {memory}."
    return Claim(*about, verdict.distance, verdict.limits, control, sentence)


def energy_claim(where: str, found: ConvolutionScales) -> list[Claim]:
    """Say the same with filters weighted by their energy."""
    weighted = found.after.energy
    if weighted is None:
        return []
    plain, estimate = found.after.filters["largest"], weighted["largest"]
    median = 2 ** weighted["log2_mean"].value
    size = f"D is {estimate.value:.3f}"
    if found.after.fit.degenerate:
        plain = estimate = Estimate(math.nan, Interval.none(EQUAL))
        size = f"D is not defined ({EQUAL})"
    return [
        Claim(
            f"{where}: D from the fitted log-normal, filters weighted by energy",
            found.after.fit.n,
            UNIT,
            estimate.value,
            estimate.interval,
            Control("each filter counted once", plain.value, plain.interval),
            f"Weighted by energy the geometric mean scale is {median:.2f} pixels and {size}.",
        )
    ]


def family_claims(where: str, found: ConvolutionScales) -> list[Claim]:
    """Say whether other families describe held-out filters better."""
    claims = []
    for other in found.after.against:
        claims.append(
            Claim(
                f"{where}: held-out log-likelihood of log-normal minus {other.family} (nats per filter)",
                found.after.fit.n,
                UNIT,
                other.gain,
                other.interval,
                Control("equally good", 0.0),
                better_family(other),
            )
        )
    return claims


def better_family(other: HeldOut) -> str:
    """Say which of two families describes held-out filters better, where that can be said."""
    article = "an" if other.family[0] in "aeiou" else "a"
    rival = f"{article} {other.family}"
    if not other.interval.exists:
        why = other.interval.reason
        return f"Whether a log-normal or {rival} describes held-out filters better cannot be told ({why})."
    if 0 in other.interval:
        return f"Neither a log-normal nor {rival} is seen to describe held-out filters better."
    first, second = ("a log-normal", rival) if other.gain > 0 else (rival, "a log-normal")
    return f"{first.capitalize()} describes held-out filters better than {second} does."


def change_claims(where: str, found: ConvolutionScales) -> list[Claim]:
    """Say how much of the distribution is the start's, and how it moved."""
    change, n = found.change, found.after.fit.n
    if change is None:
        return []
    r, share = change.correlation, change.share
    wide, narrow = change.shifts[0.95], change.shifts[0.05]
    why = f" ({change.reason})" if change.reason else ""
    return [
        Claim(
            f"{where}: correlation of log sigma before and after training",
            n,
            UNIT,
            r.value,
            r.interval,
            Control("filters shuffled", change.shuffled),
            f"Scales remember their start with r = {said(r.value, r.interval)}.",
        ),
        Claim(
            f"{where}: share of the final variance of log sigma that training made",
            n,
            UNIT,
            share.value,
            share.interval,
            Control("no training", 0.0),
            f"Training made {100 * share.value:.0f} % of the final variance of log sigma{why}.",
        ),
        Claim(
            f"{where}: shift of the median of log2 sigma by training (octaves)",
            n,
            UNIT,
            change.shifts[0.5].value,
            change.shifts[0.5].interval,
            Control("no training", 0.0),
            f"Quantiles 5, 50 and 95 % moved by {narrow.value:+.2f}, {change.shifts[0.5].value:+.2f} and "
            f"{wide.value:+.2f} octaves.",
        ),
    ]


def time_channel_claim(where: str, found: ConvolutionScales) -> list[Claim]:
    """Say how the time channel's filters, which see no image, compare with the others."""
    apart = found.time_channel
    if apart is None:
        return []
    spread, others = apart.filters["log2_sd"], found.after.filters["log2_sd"]
    return [
        Claim(
            f"{where}: standard deviation of log2 sigma in the time channel (octaves)",
            apart.fit.n,
            "output channels of one network",
            spread.value,
            spread.interval,
            Control("filters of the maps", others.value, others.interval),
            f"The time channel's {apart.fit.n} filters have median {apart.fit.median:.2f} pixels against "
            f"{found.after.fit.median:.2f} of the maps'.",
        )
    ]
