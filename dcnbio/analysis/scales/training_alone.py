"""Does training alone make a log-normal? Networks whose scales began elsewhere, beside those of the paper's start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.scales.distribution_claims import ConvolutionScales
from dcnbio.analysis.scales.network import NetworkScales
from dcnbio.analysis.statistics.equivalence import LOGNORMAL_BOUND
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["TrainingAlone", "training_alone", "training_alone_claims", "training_alone_sentences"]

Found = Mapping[str, Sequence[ConvolutionScales]]
ABOUT_THESE = "the convolutions of one network are no sample; each has limits of its own"
WANTING = (
    "whether training alone makes a log-normal is not asked of this network, which began log-normal: a control that "
    "began elsewhere (dcnbio train --set initial_sigma=constant, or log2-uniform) is wanting"
)


@dataclass(frozen=True)
class TrainingAlone:
    """What one network shows whose scales were no log-normal before training.

    Attributes
    ----------
    name, start : str
        The network, and where its scales began.
    within, beyond, untold, equal : int
        Convolutions that are log-normal within the bound, further from it, undecided, and those whose scales are all
        equal, which have no distribution.
    distance, weighted, before : float
        Median over convolutions of D, of D with filters weighted by their energy, and of D before training; NaN where
        there is none.
    spread : float
        Median standard deviation of log2 sigma, octaves.
    share : float
        Median share of the variance of log sigma that training made.
    better, compared : int
        Convolutions in which a log-normal surely describes held-out filters better than a normal, of those in which it
        can be told at all.
    """

    name: str
    start: str
    within: int
    beyond: int
    untold: int
    equal: int
    distance: float
    weighted: float
    before: float
    spread: float
    share: float
    better: int
    compared: int

    @property
    def n(self) -> int:
        """Convolutions with a distribution."""
        return self.within + self.beyond + self.untold

    @property
    def answer(self) -> str:
        """Whether training alone makes a log-normal here."""
        if not self.n:
            return "training left all scales equal, so it makes no distribution"
        if self.within == self.n:
            return "training alone makes a log-normal"
        if self.beyond == self.n:
            return "training alone makes no log-normal"
        if self.untold == self.n:
            return "whether training alone makes a log-normal cannot be told"
        parts = [
            f"{self.within} became log-normal by training alone" if self.within else "",
            f"{self.beyond} did not" if self.beyond else "",
            f"of {self.untold} it cannot be told" if self.untold else "",
        ]
        return f"of {self.n} convolutions {', '.join(part for part in parts if part)}"

    @property
    def favour(self) -> str:
        """In how many convolutions a log-normal is better, and of how many that cannot be told."""
        if not self.compared:
            return "none, since it can be told of none"
        untold = self.n - self.compared
        return f"{self.better} of {self.compared}" + (f", and of {untold} it cannot be told" if untold else "")

    @property
    def sentence(self) -> str:
        """Say it with the sizes that it rests on."""
        began = "all equal" if math.isnan(self.before) else f"median D {self.before:.3f}"
        if not self.n:
            return f"Scales began {self.start} ({began}): in this network {self.answer}."
        told = f"{self.untold} cannot be told"
        weighted = "" if math.isnan(self.weighted) else f", {self.weighted:.3f} weighted by energy"
        return (
            f"Scales began {self.start} ({began}); after training {self.within} of {self.n} convolutions are "
            f"log-normal within D < {LOGNORMAL_BOUND}, {self.beyond} are further from it and {told} "
            f"(median D {self.distance:.3f}{weighted}). Training made {100 * self.share:.0f} % of the variance, "
            f"and the spread is {self.spread:.2f} octaves; a log-normal surely describes held-out filters better than "
            f"a normal in {self.favour}. In this network {self.answer}."
        )


def median(values: Sequence[float]) -> float:
    """Give the median of the finite values, NaN where there are none."""
    known = [value for value in values if math.isfinite(value)]
    return float(np.median(known)) if known else math.nan


def training_alone(network: NetworkScales, found: Sequence[ConvolutionScales]) -> TrainingAlone:
    """Sum up what training made of scales that were no log-normal before.

    Parameters
    ----------
    network : NetworkScales
    found : sequence of ConvolutionScales
        Of all its convolutions with a scale per channel pair.

    Returns
    -------
    TrainingAlone
    """
    spread = [one for one in found if not one.after.fit.degenerate]
    verdicts = [one.after.verdict for one in spread]
    befores = [one.before for one in spread if one.before is not None]
    normals = [other for one in spread for other in one.after.against if other.family == "normal"]
    return TrainingAlone(
        name=network.name,
        start=network.start,
        within=verdicts.count("within"),
        beyond=verdicts.count("beyond"),
        untold=verdicts.count("cannot tell"),
        equal=len(found) - len(spread),
        distance=median([one.after.equivalence.distance for one in spread]),
        weighted=median([one.after.energy["largest"].value for one in spread if one.after.energy is not None]),
        before=median([before["largest"].value for before in befores if before["log2_sd"].value > 0]),
        spread=median([one.after.filters["log2_sd"].value for one in spread]),
        share=median([one.change.share.value for one in found if one.change is not None]),
        better=sum(other.gain > 0 and other.interval.exists and 0 not in other.interval for other in normals),
        compared=sum(other.interval.exists for other in normals),
    )


def training_alone_claims(networks: Sequence[NetworkScales], distributions: Found) -> list[Claim]:
    """Say of each network whose scales began elsewhere whether training alone made log-normals of them.

    Parameters
    ----------
    networks : sequence of NetworkScales
    distributions : mapping of str to sequence of ConvolutionScales
        By the network's name, where scales are per channel pair.

    Returns
    -------
    list of Claim
        One per control: the share of its convolutions that are log-normal, beside that of the network of the same row
        that began log-normal.
    """
    claims = []
    for network in (one for one in networks if one.is_control and one.name in distributions):
        found = training_alone(network, distributions[network.name])
        share = found.within / found.n if found.n else math.nan
        interval = Interval.none(ABOUT_THESE if found.n else "all scales are equal")
        title = f"{network.name}: share of convolutions that training alone made log-normal (D < {LOGNORMAL_BOUND})"
        control = started_log_normal(network, networks, distributions)
        claims.append(Claim(title, found.n or found.equal, "convolutions", share, interval, control, found.sentence))
    return claims


def started_log_normal(network: NetworkScales, networks: Sequence[NetworkScales], distributions: Found) -> Control:
    """Give the same share in the network of the row whose scales began log-normal, one of as many passes first."""
    row = network.filters.attrs.get("row")
    own = [one for one in networks if one.name in distributions and one.filters.attrs.get("row") == row]
    began = [one for one in own if not one.is_control]
    for other in sorted(began, key=lambda one: one.passes != network.passes):
        spread = [one for one in distributions[other.name] if not one.after.fit.degenerate]
        if spread:
            share = sum(one.after.verdict == "within" for one in spread) / len(spread)
            return Control(f"{other.name}, whose scales began log-normal{as_long(network, other)}", share)
    return Control(f"no {row} that began log-normal was given")


def as_long(network: NetworkScales, other: NetworkScales) -> str:
    """Say whether a control was trained for as long as the network beside it, where both record it."""
    if network.passes is None or other.passes is None:
        return ""
    if network.passes == other.passes:
        return ", trained on as many images"
    return f", trained on {other.passes:,} images where this one was trained on {network.passes:,}"


def training_alone_sentences(networks: Sequence[NetworkScales], distributions: Found) -> list[str]:
    """Answer for each row with a scale per channel pair whether training alone makes a log-normal, or say why not."""
    said = []
    known = [network for network in networks if network.name in distributions]
    for row in dict.fromkeys(str(network.filters.attrs.get("row", "unknown")) for network in known):
        own = [network for network in known if network.filters.attrs.get("row", "unknown") == row]
        controls = [training_alone(one, distributions[one.name]) for one in own if one.is_control]
        if not controls:
            said.append(f"{own[0].name}: {WANTING}")
        said += [f"{one.name} ({beginning(one)}): {one.answer}" for one in controls]
    return said


def beginning(one: TrainingAlone) -> str:
    """Say where scales began, and how far training took them from there."""
    if math.isnan(one.before):
        return f"one network, scales from {one.start}, spread by training to {one.spread:.2f} octaves"
    return (
        f"one network, scales from {one.start}, D {one.before:.3f} before and {one.distance:.3f} after training, which "
        f"made {100 * one.share:.0f} % of the variance"
    )
