"""Does the scale rise with depth, and did training make it do so? One slope per network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.t_interval import t_interval
from dcnbio.errors import InputError

__all__ = ["DepthTrend", "depth_trend"]


@dataclass(frozen=True)
class DepthTrend:
    """Slopes of log2 sigma against depth, in octaves per layer, of networks of one row.

    Attributes
    ----------
    slopes, initial : array, shape (network,)
        After and before training; `initial` is NaN where the start is not known.
    interval, initial_interval : Interval
        Of their means over networks; none for one network.
    chance : float
        95 % of untrained networks have a slope within +- this: layers start independently.
    """

    slopes: Floats
    initial: Floats
    interval: Interval
    initial_interval: Interval
    chance: float

    @property
    def n(self) -> int:
        """Networks."""
        return self.slopes.size


def slope(values: Floats) -> float:
    """Give the least-squares slope against 0, 1, 2, ...; NaN if a value is missing."""
    depth = np.arange(values.size) - (values.size - 1) / 2
    return float(depth @ values / (depth @ depth))


def chance_of_start(table: xr.Dataset) -> float:
    """Give 1.96 standard deviations of the slope that independent starts of log2 sigma have; 0 for equal ones."""
    depth = np.arange(table.sizes["layer"]) - (table.sizes["layer"] - 1) / 2
    variance = table["start_sd"].values ** 2 / np.where(table["per_pair"] == 1, table["filters"], 1)
    return 1.96 * math.sqrt(float(depth**2 @ variance)) / float(depth @ depth)


def depth_trend(tables: Sequence[xr.Dataset]) -> DepthTrend:
    """Fit a line to log2 sigma against depth in each network.

    Parameters
    ----------
    tables : sequence of xarray.Dataset
        `layer_table` of networks of one row, at least one, each with at least two layers.

    Returns
    -------
    DepthTrend

    Raises
    ------
    InputError
        If there are no tables, or a network has one layer.

    Notes
    -----
    The unit is the network: the layers of one network describe it and are no sample of networks. A trend can be chance
    of the start; `chance` and `initial` show that.
    """
    if not tables or min(table.sizes["layer"] for table in tables) < 2:
        raise InputError("a trend with depth needs at least one network with two or more SRF layers.")
    after = np.array([slope(table["log2_sigma"].values) for table in tables])
    before = np.array([slope(table["log2_sigma_initial"].values) for table in tables])
    known = before[np.isfinite(before)]
    reason = "one network: a trend over networks has no interval"
    return DepthTrend(
        slopes=after,
        initial=before,
        interval=t_interval(after) if after.size > 1 else Interval.none(reason),
        initial_interval=t_interval(known) if known.size > 1 else Interval.none(reason),
        chance=chance_of_start(tables[0]),
    )
