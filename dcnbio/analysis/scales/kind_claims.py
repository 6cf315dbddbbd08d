"""What is said of filter shapes: shares of odd, even, centre-surround and blob filters, beside untrained weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.filters.kinds import KINDS, sort_filters
from dcnbio.analysis.filters.sampled_gaussian import sampled_taps
from dcnbio.analysis.scales.measures import spatial_inputs, window_of
from dcnbio.analysis.scales.network import NetworkScales
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.moment_statistic import mean_statistic

__all__ = ["kind_claims"]

COUNTED = KINDS[:4]
DRAWS = 4
TINY = 1e-9  # what rounding makes of limits that are equal
STEM = "stem"
"""The layer that takes the image, where it is one of scales."""


def untrained_shares(network: NetworkScales, rng: np.random.Generator) -> Floats:
    """Give the share of each kind where alpha is drawn anew, equally spread, at the network's own scales."""
    counts = np.zeros(len(COUNTED))
    for node in network.filters.children.values():
        layer = spatial_inputs(node.to_dataset()).isel(time=0)
        sigma = np.exp2(layer["log2_sigma"].values.astype(np.float64))
        taps = sampled_taps(sigma, int(layer["order_y"].values.max()), window_of(layer, sigma))
        for _ in range(DRAWS):
            kind = sort_filters(rng.standard_normal(layer["alpha"].shape), taps).kind
            counts += [np.sum(kind == code) for code in range(len(COUNTED))]
    share: Floats = counts / (DRAWS * float(network.table["filters"].sum()))
    return share


def shares(network: NetworkScales, rng: np.random.Generator, resamples: int) -> tuple[Floats, list[Interval]]:
    """Give the share of each kind over all layers, with intervals clustered by channels within each layer."""
    filters = network.table["filters"].values
    weight, missing, channels = filters / filters.sum(), [], 0
    estimate, spread = np.zeros(len(COUNTED)), np.zeros((resamples, len(COUNTED)))
    for part, (layer, measures) in zip(weight, network.measures.items(), strict=True):
        found = two_way_bootstrap(mean_statistic(*kind_grids(layer, measures["kind"].values)), rng, resamples)
        estimate += part * found.estimate
        channels += found.clusters
        missing += [f"of {layer} {found.interval().reason}"] if not found.interval().exists else []
        spread += part * np.stack([found.spread(k) for k in range(len(COUNTED))], axis=1)  # shares are always defined
    if missing:
        return estimate, [Interval.none("; ".join(missing))] * len(COUNTED)
    stem = ", the stem's over outputs, since its inputs are the three colours" if STEM in network.measures else ""
    method = f"two-way cluster bootstrap within each layer{stem}, {resamples} resamples; this network's filters"
    low, high = np.clip(np.quantile(spread, [0.025, 0.975], axis=0), 0, 1)
    limits = [Interval(float(a), float(b), 0.95, method) for a, b in zip(low, high, strict=True)]
    return estimate, [beyond_none(one, channels) if one.high - one.low < TINY else one for one in limits]


def kind_grids(layer: str, kind: NDArray[np.int64]) -> list[Floats]:
    """Give 1 where a filter is of a kind, (output, input); of the stem the share of each output's, (output, 1).

    The stem's inputs are red, green and blue, which are all there are: other networks have the same, so only its
    outputs are a sample.
    """
    grids = [(kind == code).astype(np.float64) for code in range(len(COUNTED))]
    return [grid.mean(axis=1, keepdims=True) for grid in grids] if layer == STEM else grids


def beyond_none(point: Interval, channels: int) -> Interval:
    """Give limits of a share of none or all filters, which no resample changes: Clopper and Pearson's over channels."""
    reach = 1 - 0.025 ** (1 / channels)
    method = f"Clopper-Pearson over {channels} channels, as if the filters of each were one; no resample differs"
    return Interval(max(point.low - reach, 0.0), min(point.high + reach, 1.0), 0.95, method)


def beside_untrained(share: float, interval: Interval, control: float) -> str:
    """Say how a share compares with that of untrained weights, or why that cannot be told."""
    untrained = f"untrained weights give at the same scales ({100 * control:.1f} %)"
    if not interval.exists:
        return f"whether that is another share than {untrained} cannot be told ({interval.reason})"
    if control in interval:
        return f"no clearly other share than {untrained}"
    return f"{'more' if share > control else 'fewer'} than {untrained}"


def kind_claims(network: NetworkScales, rng: np.random.Generator, resamples: int) -> list[Claim]:
    """Say how many filters are odd, even, centre-surround and blobs, and how many would be without training."""
    estimate, intervals = shares(network, rng, resamples)
    control = untrained_shares(network, rng)
    n = int(network.table["filters"].sum())
    return [
        Claim(
            f"{network.name}: share of {kind} filters",
            n,
            "filters of one network, clustered by channels",
            float(share),
            interval,
            Control("alpha as before training, drawn anew at the same scales", float(untrained)),
            f"{100 * share:.1f} % of this network's filters are {kind}: "
            f"{beside_untrained(float(share), interval, float(untrained))}.",
        )
        for kind, share, interval, untrained in zip(COUNTED, estimate, intervals, control, strict=True)
    ]
