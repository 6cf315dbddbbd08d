"""What is said of scale against depth, of its change by training, and of the windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.scales.depth import DepthTrend, depth_trend
from dcnbio.analysis.scales.network import NetworkScales
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.t_interval import t_interval

__all__ = ["depth_claims", "depth_sentence", "window_claims"]


def who(n: int) -> str:
    """Name what a statement is about."""
    return "this network" if n == 1 else f"these {n} networks"


def signed(value: float) -> str:
    """Write octaves with their sign, and zero as +0.00."""
    return f"{round(value, 2) + 0.0:+.2f}"


def depth_claims(networks: Sequence[NetworkScales]) -> list[Claim]:
    """Say whether the scale rises with depth in networks of one row, and whether training made it."""
    row, trend = networks[0].row, trend_of(networks)
    if trend is None:
        return []
    claims = [rise(row, trend)]
    claims += [rise_by_training(row, trend)] if np.isfinite(trend.initial).any() else []
    return claims + change_in_time(networks)


def trend_of(networks: Sequence[NetworkScales]) -> DepthTrend | None:
    """Give the trend with depth of networks of one row; None where one has a single layer."""
    if min(network.table.sizes["layer"] for network in networks) < 2:
        return None
    return depth_trend([network.table for network in networks])


def depth_sentence(networks: Sequence[NetworkScales]) -> str:
    """Sum the trend of one row up in a part of a sentence; empty where there is none."""
    trend = trend_of(networks)
    if trend is None:
        return ""
    known = trend.initial[np.isfinite(trend.initial)]
    before = f"{signed(float(known.mean()))} before training" if known.size else "start unknown"
    mean = signed(float(trend.slopes.mean()))
    return f"{networks[0].row} (n = {trend.n}): scale {mean} octaves per layer of depth, {before}"


def rise(row: str, trend: DepthTrend) -> Claim:
    """Say how log2 sigma changes with depth, beside the start's."""
    mean = float(trend.slopes.mean())
    chance = trend.chance / math.sqrt(trend.n)
    known = trend.initial[np.isfinite(trend.initial)]
    if known.size:
        start = Control("the same slope before training", float(known.mean()), trend.initial_interval)
    else:
        start = Control(f"untrained networks, start unknown: 95 % within +-{chance:.2f}", 0.0)
    return Claim(
        f"{row}: slope of log2 sigma with depth (octaves per layer)",
        trend.n,
        "networks",
        mean,
        trend.interval,
        start,
        f"In {who(trend.n)} the scale changes by {signed(mean)} octaves per layer of depth, {beside_chance(trend)}.",
    )


def beside_chance(trend: DepthTrend) -> str:
    """Say how a slope compares with those that chance starts have."""
    if trend.chance == 0:
        return "where all layers began with the same scale"
    chance = trend.chance / math.sqrt(trend.n)
    beyond = "more than" if abs(float(trend.slopes.mean())) > chance else "no more than"
    untrained = "such means" if trend.n > 1 else "untrained networks"
    return f"{beyond} a chance start makes (95 % of {untrained} lie within +-{chance:.2f})"


def rise_by_training(row: str, trend: DepthTrend) -> Claim:
    """Say what training added to the slope, network by network."""
    change = (trend.slopes - trend.initial)[np.isfinite(trend.initial)]
    mean = float(change.mean())
    interval = t_interval(change) if change.size > 1 else Interval.none("one network: no interval over networks")
    sure = "its interval excludes 0" if interval.exists and 0 not in interval else "its interval includes 0"
    sure = sure if interval.exists else "with no interval over networks that is no claim about the row"
    return Claim(
        f"{row}: slope of log2(sigma_T / sigma_0) with depth (octaves per layer)",
        change.size,
        "networks",
        mean,
        interval,
        Control("no change by training", 0.0),
        f"Training turned the slope by {signed(mean)} octaves per layer in {who(change.size)}; {sure}.",
    )


def change_in_time(networks: Sequence[NetworkScales]) -> list[Claim]:
    """Say how scales change during integration, where filters depend on solver time."""
    tables = [network.table for network in networks]
    moved = np.array([float((table["log2_sigma_at_end"] - table["log2_sigma"]).mean()) for table in tables])
    changing = any(node.sizes["time"] > 1 for network in networks for node in network.filters.children.values())
    if not changing:
        return []
    return [
        Claim(
            f"{networks[0].row}: change of scale from solver time 0 to T (octaves, mean over layers)",
            moved.size,
            "networks",
            float(moved.mean()),
            t_interval(moved) if moved.size > 1 else Interval.none("one network: no interval over networks"),
            Control("the slope in time starts with mean 0", 0.0),
            f"During integration the scale {'grows' if moved.mean() > 0 else 'shrinks'} by "
            f"{abs(moved.mean()):.2f} octaves on average in {who(moved.size)}.",
        )
    ]


def window_claims(network: NetworkScales) -> list[Claim]:
    """Say how much of the filters the windows and the pixel grid take away."""
    table = network.table
    cut = float(table["energy_cut"].max())
    ratio = (table["effective_sigma"] / table["sigma"]).values
    worst = str(table["layer"].values[int(ratio.argmin())])
    return [
        Claim(
            f"{network.name}: largest share of a layer's filter energy cut by the window",
            table.sizes["layer"],
            "layers",
            cut,
            Interval.none("a property of these weights, no sample"),
            Control("no cut: an infinite window", 0.0),
            f"Windows cut at most {100 * cut:.1f} % of a layer's filter energy.",
        ),
        Claim(
            f"{network.name}: smallest effective over nominal sigma",
            table.sizes["layer"],
            "layers",
            float(ratio.min()),
            Interval.none("a property of these weights, no sample"),
            Control("continuous Gaussian", 1.0),
            f"On the pixel grid the scale of {worst} is {ratio.min():.2f} of its nominal sigma, the lowest of all.",
        ),
    ]
