"""Where the scales of filters were before training: as a curve beside their distribution, and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from dcnbio.analysis.scales.initialisation import INITIAL_OCTAVES
from dcnbio.figures.names import listed, network_name
from dcnbio.figures.palette import BLACK
from dcnbio.figures.table import Table

__all__ = ["draw_start", "normal_density", "start_curve", "start_of", "starts_text"]

UNIFORM_SIDE = math.sqrt(3) * INITIAL_OCTAVES  # of a uniform distribution with the spread of the paper's start
STARTS = {
    "paper": "of {} the log-normal that they were drawn from (log2 sigma ~ N(0, 2/3)), so that log-normality alone is "
    "no result of learning",
    "log2-uniform": "of {} the distribution that they were drawn from, log2 sigma uniform within 1.15 octaves of 0",
    "constant": "of {} the scale of 1 pixel that all of them had",
}
"""Where scales were before training, by what a result calls it."""


def normal_density(x: np.ndarray, mean: float, sd: float) -> np.ndarray:
    """Give the density of log2 sigma, per octave."""
    return np.asarray(np.exp(-((x - mean) ** 2) / (2 * sd**2)) / (sd * math.sqrt(2 * math.pi)))


def start_of(network: xr.DataTree) -> str:
    """Give what a result calls the start of a network's scales."""
    return str(network.attrs.get("initial_sigma", "paper"))


def start_curve(start: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the density that scales are drawn from before training, over log2 sigma, upright at its steps.

    Parameters
    ----------
    start : str
        "paper", "log2-uniform" or "constant"; of any other, and of a constant beyond `x`, there is none.
    x : float array
        log2 sigma, ascending.

    Returns
    -------
    tuple of array
        log2 sigma, and density per octave; NaN where all scales were one.

    Examples
    --------
    >>> x, density = start_curve("log2-uniform", np.linspace(-2, 2, 5))
    >>> x.round(2).tolist(), density.round(2).tolist()
    ([-2.0, -1.15, -1.15, -1.0, 0.0, 1.0, 1.15, 1.15, 2.0], [0.0, 0.0, 0.43, 0.43, 0.43, 0.43, 0.43, 0.0, 0.0])
    >>> start_curve("constant", np.linspace(-2, 2, 5))
    (array([0.]), array([nan]))
    """
    if start == "paper":
        return x, normal_density(x, 0.0, INITIAL_OCTAVES)
    if start == "constant" and x[0] < 0 < x[-1]:
        return np.zeros(1), np.full(1, np.nan)
    if start != "log2-uniform":
        return np.empty(0), np.empty(0)
    sides = [side for side in (-UNIFORM_SIDE, UNIFORM_SIDE) if x[0] < side < x[-1]]
    places = np.sort(np.concatenate([x, np.repeat(sides, 2)]))
    density = np.where(np.abs(places) < UNIFORM_SIDE, 1 / (2 * UNIFORM_SIDE), 0.0)
    for side in sides:  # of each pair the one towards the middle
        density[np.flatnonzero(places == side)[1 if side < 0 else 0]] = 1 / (2 * UNIFORM_SIDE)
    return places, density


def draw_start(axes: Axes, start: Table) -> None:
    """Draw where scales began, over the fit: through its gaps the fit is seen where they coincide."""
    if start["value"].isna().all():
        axes.axvline(float(start["sigma_pixels"].iloc[0]), color=BLACK, ls="--", lw=1.0, zorder=4)
    else:
        axes.plot(start["sigma_pixels"], start["value"], "--", color=BLACK, lw=1.0, zorder=4)


def starts_text(networks: Sequence[xr.DataTree]) -> str:
    """Say where the scales of networks began, those that began alike together."""
    names: dict[str, list[str]] = {}
    for network in networks:
        names.setdefault(start_of(network), []).append(network_name(network))
    known = [STARTS[start].format(listed(own)) for start, own in names.items() if start in STARTS]
    return f"Dashed, where scales were before training: {'; '.join(known)}." if known else ""
