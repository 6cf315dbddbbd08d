"""The reductions by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.errors import InputError
from dcnbio.recording.reductions.dissimilarity import correlation_distance, euclidean_distance
from dcnbio.recording.reductions.feature_variance import feature_variance
from dcnbio.recording.reductions.intact_difference import intact_amplitude, intact_difference, intact_distance
from dcnbio.recording.reductions.norm import norm
from dcnbio.recording.reductions.reduction import Maps, Reduction
from dcnbio.recording.reductions.spatial_mean import spatial_mean
from dcnbio.recording.reductions.spatial_variance import spatial_variance

__all__ = ["REDUCTIONS", "find_reductions"]

OTHERS = ("other_stimulus",)


def scores(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Pass class scores on."""
    return np.asarray(values, dtype=np.float64)


PLAIN = (
    Reduction("h_norm", norm, "Euclidean norm of h"),
    Reduction("slope_norm", norm, "Euclidean norm of dh/dt", "1 / solver time", maps=Maps.SLOPE),
    Reduction("channel_mean", spatial_mean, "mean of h over positions", dims=("channel",)),
    Reduction("spatial_variance", spatial_variance, "variance of h over positions, mean over channels"),
    Reduction("feature_variance", feature_variance, "variance of h over channels, mean over positions"),
    Reduction(
        "correlation_distance",
        correlation_distance,
        "1 - correlation of h with that of another image",
        dims=OTHERS,
        together=True,
    ),
    Reduction(
        "euclidean_distance",
        euclidean_distance,
        "Euclidean distance of h from another image's",
        dims=OTHERS,
        together=True,
    ),
    Reduction(
        "intact_difference",
        intact_difference,
        "sum of absolute differences of h from the intact image's",
        maps=Maps.INTACT,
    ),
    Reduction("intact_amplitude", intact_amplitude, "sum of absolute values of the intact image's h", maps=Maps.INTACT),
    Reduction("intact_distance", intact_distance, "Euclidean distance of h from the intact image's", maps=Maps.INTACT),
    Reduction(
        "readout_logits",
        scores,
        "class scores read out at t, h(t) in place of h(T)",
        dims=("class",),
        maps=Maps.READOUT,
    ),
    Reduction(
        "onward_logits",
        scores,
        "class scores of the rest of the network, solved on from h(t) in place of h(T)",
        dims=("class",),
        maps=Maps.ONWARD,
    ),
)
# a norm of normalised maps is a constant of the layer
NORMALISED = (
    "channel_mean",
    "spatial_variance",
    "feature_variance",
    "correlation_distance",
    "euclidean_distance",
    "intact_difference",
    "intact_amplitude",
    "intact_distance",
)


def normalised(reduction: Reduction) -> Reduction:
    """Give the same reduction of group-normalised maps."""
    maps = Maps.INTACT_NORMALISED if reduction.maps is Maps.INTACT else Maps.NORMALISED
    long_name = f"{reduction.long_name}, group-normalised"
    return replace(reduction, name=f"{reduction.name}_normalised", long_name=long_name, maps=maps)


REDUCTIONS: dict[str, Reduction] = {reduction.name: reduction for reduction in PLAIN}
REDUCTIONS |= {f"{name}_normalised": normalised(REDUCTIONS[name]) for name in NORMALISED}


def find_reductions(names: Iterable[str]) -> tuple[Reduction, ...]:
    """Give the reductions of these names, in the order of the registry.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    tuple of Reduction

    Raises
    ------
    InputError
        If a name is unknown; the message lists those that exist.

    Examples
    --------
    >>> [reduction.dims for reduction in find_reductions(["h_norm", "channel_mean"])]
    [(), ('channel',)]
    """
    wanted = list(names)
    unknown = [name for name in wanted if name not in REDUCTIONS]
    if unknown:
        raise InputError(f"reductions has {unknown[0]!r}; known are {', '.join(REDUCTIONS)}.")
    return tuple(reduction for name, reduction in REDUCTIONS.items() if name in wanted)
