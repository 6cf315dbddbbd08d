"""What is said of filter shapes: shares of odd, even, centre-surround and blob filters, beside untrained weights."""

from __future__ import annotations

import numpy as np

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
    weight, reasons = filters / filters.sum(), []
    estimate, spread = np.zeros(len(COUNTED)), np.zeros((resamples, len(COUNTED)))
    for part, measures in zip(weight, network.measures.values(), strict=True):
        grids = [(measures["kind"].values == code).astype(np.float64) for code in range(len(COUNTED))]
        found = two_way_bootstrap(mean_statistic(*grids), rng, resamples)
        estimate += part * found.estimate
        reasons.append("" if found.interval().exists else found.interval().reason)
        spread += part * np.stack([found.spread(k) for k in range(len(COUNTED))], axis=1)  # shares are always defined
    method = f"two-way cluster bootstrap within each layer, {resamples} resamples; this network's filters"
    missing = next((why for why in reasons if why), "")
    if missing:
        return estimate, [Interval.none(missing)] * len(COUNTED)
    low, high = np.clip(np.quantile(spread, [0.025, 0.975], axis=0), 0, 1)
    return estimate, [Interval(float(a), float(b), 0.95, method) for a, b in zip(low, high, strict=True)]


def kind_claims(network: NetworkScales, rng: np.random.Generator, resamples: int) -> list[Claim]:
    """Say how many filters are odd, even, centre-surround and blobs, and how many would be without training."""
    estimate, intervals = shares(network, rng, resamples)
    control = untrained_shares(network, rng)
    n = int(network.table["filters"].sum())
    claims = []
    for k, kind in enumerate(COUNTED):
        more = "more than" if estimate[k] > control[k] else "fewer than"
        if not intervals[k].exists or control[k] in intervals[k]:
            more = "no clearly other share than"
        claims.append(
            Claim(
                f"{network.name}: share of {kind} filters",
                n,
                "filters of one network, clustered by channels",
                float(estimate[k]),
                intervals[k],
                Control("alpha as before training, drawn anew at the same scales", float(control[k])),
                f"{100 * estimate[k]:.1f} % of this network's filters are {kind}: {more} untrained weights give at the "
                f"same scales ({100 * control[k]:.1f} %).",
            )
        )
    return claims
