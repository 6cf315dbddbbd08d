"""What can be read out of the last block as time goes on, and when each image is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.completion.conditions import averaged, solved_images
from dcnbio.analysis.completion.resampling import Estimate, Resampler, undefined
from dcnbio.analysis.shapes import Floats

__all__ = ["SolutionTimes", "accuracy", "accuracy_drop", "correct", "readout_curves", "retrieval", "solution_times"]

TOP = 3


def has_labels(data: xr.Dataset) -> bool:
    """Whether every image has a class, and one of the network's."""
    labels = data["label"].values
    return bool(((labels >= 0) & (labels < data["logits"].sizes["class"])).all())


def places(data: xr.Dataset, names: list[str]) -> np.ndarray:
    """Give how many classes score higher than the right one, [condition, image, time]; a tie counts as higher."""
    logits = data["logits"].sel(condition=names).values
    right = np.take_along_axis(logits, data["label"].values[None, :, None, None], axis=3)
    higher: np.ndarray = (logits >= right).sum(axis=3) - 1
    # a solve that ended early answers nothing
    return np.where(np.isfinite(right[..., 0]), higher, logits.shape[3])


def correct(data: xr.Dataset, names: list[str], top: int = 1) -> Floats:
    """Say of each image and time how often the right class is among the best, averaged over conditions.

    Returns
    -------
    array [image, time]
    """
    found: Floats = (places(data, names) < top).mean(axis=0)
    return found


def accuracy(data: xr.Dataset, names: list[str], resampler: Resampler) -> Estimate:
    """Give accuracy at T; images that were not solved count as wrong."""
    if not has_labels(data):
        return undefined("the images have no labels")
    return resampler.mean(correct(data, names)[:, -1])


def accuracy_drop(data: xr.Dataset, names: list[str], resampler: Resampler) -> Estimate:
    """Give accuracy under conditions minus that of the same images intact, paired."""
    if not has_labels(data):
        return undefined("the images have no labels")
    return resampler.paired(correct(data, names)[:, -1], correct(data, ["intact"])[:, -1])


def retrieval(
    data: xr.Dataset, names: list[str], block: int, resampler: Resampler
) -> tuple[Estimate, Estimate, Estimate]:
    """Give the share of images whose own intact map is the nearest of all, at 0, at T, and the rise between them."""
    fine = solved_images(data, names)
    if "nearer" not in data or not fine.any():
        none = undefined("nothing was retrieved" if "nearer" not in data else "no image was solved")
        return none, none, none
    found = data["nearer"].sel(condition=names, block=block).isel(time=[0, -1]).values[:, fine]
    first = (found == 0).mean(axis=0)
    return resampler.mean(first[:, 0]), resampler.mean(first[:, 1]), resampler.paired(first[:, 1], first[:, 0])


def readout_curves(data: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Give what the readout makes of the last block's h(t).

    Returns
    -------
    xarray.Dataset
        Over ``time``: ``accuracy``, ``top3``, ``margin`` (mean of the right class's score minus the best other),
        ``retrieval`` and, of intact images, ``alignment``. Without labels the first three are left out.

    Notes
    -----
    It misleads as "what is known at t": the readout was trained on h(T) alone.
    """
    about = {"units": "1"}
    fine = solved_images(data, names)
    last = int(data["block"].values[-1])
    curves = xr.Dataset({"alignment": data["alignment"]})
    if has_labels(data):
        curves["accuracy"] = ("time", correct(data, names).mean(axis=0), {"long_name": "accuracy", **about})
        curves["top3"] = (
            "time",
            correct(data, names, TOP).mean(axis=0),
            {"long_name": "among the best three", **about},
        )
        margin = margins(data, names)[fine].mean(axis=0) if fine.any() else np.full(data.sizes["time"], np.nan)
        curves["margin"] = ("time", margin, {"long_name": "right class's score minus the best other", **about})
    if "nearer" in data and fine.any():
        share = (data["nearer"].sel(condition=names, block=last).values[:, fine] == 0).mean(axis=(0, 1))
        curves["retrieval"] = ("time", share, {"long_name": "own intact map is the nearest", **about})
    return curves


def margins(data: xr.Dataset, names: list[str]) -> Floats:
    """Give the right class's score minus the best other's, [image, time]."""
    logits = averaged(data, "logits", names)
    at = data["label"].values[:, None, None]
    right = np.take_along_axis(logits, at, axis=2)[..., 0]
    others = logits.copy()
    np.put_along_axis(others, np.broadcast_to(at, (*logits.shape[:2], 1)), -np.inf, axis=2)
    margin: Floats = right - others.max(axis=2)
    return margin


@dataclass(frozen=True)
class SolutionTimes:
    """When the readout of each image becomes right and stays so.

    Attributes
    ----------
    fraction : array [image]
        First looked-at t / T after which the readout stays right, up to T; NaN where it is wrong at T.
    censored : int
        Images that are wrong at T: their time lies after T, if there is one.
    median : float
        Over all images, censored ones counted as later than T, the mean of the two middle times of an even number; NaN
        where half of them or more are censored.
    """

    fraction: Floats
    censored: int
    median: float


def solution_times(right: np.ndarray, fraction: Floats) -> SolutionTimes:
    """Find the solution time of each image.

    Parameters
    ----------
    right : bool array [image, time]
        Whether the readout is right.
    fraction : array [time]
        t / T, ascending.

    Examples
    --------
    >>> found = solution_times(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=bool), np.array([0.0, 0.5, 1.0]))
    >>> found.fraction.tolist(), found.censored, found.median
    ([0.5, 1.0, nan], 1, 1.0)
    """
    wrong = ~np.asarray(right, dtype=bool)
    times = wrong.shape[1]
    # the time after the last wrong one
    after = np.where(wrong.any(axis=1), times - np.argmax(wrong[:, ::-1], axis=1), 0)
    solved = after < times
    found = np.where(solved, np.asarray(fraction, dtype=np.float64)[np.minimum(after, times - 1)], np.nan)
    middle = float(np.median(np.where(solved, found, np.inf)))
    return SolutionTimes(found, int((~solved).sum()), middle if np.isfinite(middle) else float("nan"))
