"""The scales analysis as a whole: figures 1, 3a and 3b of the paper, with their nulls and controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.scales.depth_claims import depth_claims, depth_sentence, window_claims
from dcnbio.analysis.scales.distribution_claims import ConvolutionScales, convolution_scales, distribution_claims
from dcnbio.analysis.scales.kind_claims import kind_claims
from dcnbio.analysis.scales.network import NetworkScales, independent_kinds, measure_network
from dcnbio.analysis.scales.result import ScalesResult
from dcnbio.analysis.scales.shared_scale_claims import shared_scale_claim
from dcnbio.analysis.scales.training_alone import training_alone_claims, training_alone_sentences
from dcnbio.analysis.statistics.own_generator import own_generator
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["analyze_scales"]

Progress = Callable[[str], None]


def analyze_scales(
    filters: Mapping[str, xr.DataTree], *, seed: int = 0, resamples: int = 1999, progress: Progress | None = None
) -> ScalesResult:
    """Analyse the scales and shapes of networks' filters.

    Parameters
    ----------
    filters : mapping of str to xarray.DataTree
        `dcnbio.probe.filters.record_filters` of each network, by name. Networks of one row are taken as its training
        seeds: they are the n of what is said about that row.
    seed : int
        Of all resampling.
    resamples : int
        Of each bootstrap; 9,999 for print.
    progress : callable, optional
        Called with the name of each part before it begins.

    Returns
    -------
    ScalesResult

    Raises
    ------
    InputError
        If no network is given, two are the same, or a record of filters is incomplete.

    Notes
    -----
    With one network per row, what is said is about this network: intervals are then over its filters, clustered by
    output and input channels, and not over networks.

    Examples
    --------
    >>> layer = xr.Dataset(
    ...     {
    ...         "alpha": (("time", "function", "input", "output"), np.eye(6)[None, :, :, None]),
    ...         "log2_sigma": ("time", [1.0]),
    ...         "log2_sigma_initial": ((), 0.0),
    ...     },
    ...     {"order_y": ("function", [0, 0, 0, 1, 1, 2]), "order_x": ("function", [2, 1, 0, 1, 0, 0]), "time": [0.0]},
    ...     {"block": 1, "per_pair": 0, "time_channel": 0, "window": 2.0, "pair_size": 7},
    ... )
    >>> tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"row": "dcn-ode"}), "/block1_conv1": layer})
    >>> found = analyze_scales({"mine": tree}, resamples=99)
    >>> float(found.networks[0].table["change"][0])  # octaves
    1.0
    """
    if not filters:
        raise InputError("filters names no network; give at least one record of filters.")
    count("seed", seed, 0)
    count("resamples", resamples, 0)
    refuse_twins(filters)
    tell = progress or (lambda part: None)
    networks = []
    for name, tree in filters.items():
        tell(f"{name}: measures")
        networks.append(measure_network(name, tree))
    networks = independent_kinds(networks)
    claims: list[Claim] = []
    for seeds in rows_of(networks):
        claims += depth_claims(seeds) + shared_scale_claim(seeds, own_generator(seed, "row", seeds[0].row))
    distributions: dict[str, list[ConvolutionScales]] = {}
    for network in networks:
        own, found = shapes_and_distributions(network, seed, resamples, tell)
        claims += own
        if found:
            distributions[network.name] = found
    claims += training_alone_claims(networks, distributions)
    conclusion = "; ".join(sentences(networks, distributions)) + "."
    return ScalesResult(tuple(networks), distributions, tuple(claims), conclusion, seed, resamples)


def shapes_and_distributions(
    network: NetworkScales, seed: int, resamples: int, tell: Progress
) -> tuple[list[Claim], list[ConvolutionScales]]:
    """Say what one network's filters look like, and how the scales of each convolution are distributed."""
    tell(f"{network.name}: shapes")
    weights = weights_of(network.name, network.filters)
    claims = window_claims(network) + kind_claims(network, own_generator(seed, weights, "kinds"), resamples)
    distributions = []
    for layer in network.per_pair_layers:
        tell(f"{network.name}: {layer}")
        found = convolution_scales(network, layer, own_generator(seed, weights, layer), resamples)
        distributions.append(found)
        claims += distribution_claims(network, found)
    return claims, distributions


def lognormal_sentence(found: list[ConvolutionScales]) -> str:
    """Say in how many convolutions scales are log-normal, and whether they started so; equal ones are neither."""
    spread = [one for one in found if not one.after.fit.degenerate]
    if not spread:
        return "all scales of each convolution are equal, so there is no distribution that could be log-normal"
    within = sum(one.after.verdict == "within" for one in spread)
    equal = f"; the scales of {len(found) - len(spread)} are all equal" if len(spread) < len(found) else ""
    befores = [one.before for one in spread if one.before is not None]
    started = [before["largest"].value for before in befores if before["log2_sd"].value > 0]
    median = f"median D {np.median([one.after.equivalence.distance for one in spread]):.3f}"
    start = f"before training {np.median(started):.3f}" if started else "start unknown"
    if befores and not started:
        start = "all equal before training"
    return f"log-normal within D < 0.02 in {within} of {len(spread)} convolutions ({median}, {start}{equal})"


def weights_of(name: str, filters: xr.DataTree) -> str:
    """Tell networks apart: by their weights, or by name where these are not recorded."""
    return str(filters.attrs.get("weights", name))


def refuse_twins(filters: Mapping[str, xr.DataTree]) -> None:
    """Refuse the same weights under two names: they would count as two training seeds."""
    seen: dict[str, str] = {}
    for name, tree in filters.items():
        weights = weights_of(name, tree)
        if weights in seen:
            raise InputError(
                f"{name} has the same weights as {seen[weights]}; one network counts once, so leave it out."
            )
        seen[weights] = name


def rows_of(networks: list[NetworkScales]) -> list[list[NetworkScales]]:
    """Put networks of one row together: they are its training seeds."""
    names = dict.fromkeys(network.row for network in networks)
    return [[network for network in networks if network.row == row] for row in names]


def sentences(networks: list[NetworkScales], distributions: Mapping[str, list[ConvolutionScales]]) -> list[str]:
    """Put what was found in one sentence: depth by row, and log-normality by network."""
    said = [sentence for seeds in rows_of(networks) if (sentence := depth_sentence(seeds))]
    for name, found in distributions.items():
        said.append(f"{name}: {lognormal_sentence(found)}")
    said += training_alone_sentences(networks, distributions)
    return said or [f"{networks[0].name}: one SRF layer, no trend with depth"]
