"""The completion index: how much nearer a masked image comes to its own intact map, measured by other images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.completion.conditions import averaged, solved_images
from dcnbio.analysis.completion.resampling import Estimate, Resampler, undefined
from dcnbio.analysis.shapes import Floats

__all__ = ["FLOOR", "completion_index", "index_difference", "relative_distance"]

FLOOR = 0.01
"""An image whose distance at t = 0 is below this share of the mean distance between images is left out."""
Columns = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True)
class Sample:
    """Distances of every image at 0 and T, and which images count.

    Attributes
    ----------
    columns : four arrays [image]
        Own distance at 0 and T, distance to others at 0 and T.
    kept : bool array [image]
    reason : str
        Why nothing can be said; empty where something can.
    """

    columns: Columns
    kept: np.ndarray
    reason: str = ""

    @property
    def excluded(self) -> int:
        """Number of images left out."""
        return int((~self.kept).sum())


def counted(columns: Columns, kept: np.ndarray) -> list[Floats]:
    """Give the columns of the images that count, such that resampling these has the spread of resampled pairs.

    An image is in twice as many pairs as its own mean shows: 2 x - mean(x) has the same mean and twice the spread.
    """
    own, others = [column[kept] for column in columns[:2]], [column[kept] for column in columns[2:]]
    return [*own, *(2 * between - between.mean() for between in others)]


def sample(data: xr.Dataset, names: list[str], block: int, region: str, floor: float) -> Sample:
    """Collect what the index of one condition is made of."""
    own, others = (averaged(data, name, names, block=block, region=region) for name in ("distance", "between"))
    columns = own[:, 0], own[:, -1], others[:, 0], others[:, -1]
    usable = solved_images(data, names)
    if not usable.any():
        return Sample(columns, usable, "no image was solved")
    if not np.isfinite(own[usable]).any():
        return Sample(columns, np.zeros_like(usable), f"no position of the map is {region} the mask's place")
    usable &= np.isfinite(np.stack(columns)).all(axis=0)
    mean = others[usable, 0].mean() if usable.any() else 0.0
    if not mean > 0 or not others[usable, -1].mean() > 0:
        return Sample(columns, np.zeros_like(usable), "different images have the same maps: there is no yardstick")
    kept = usable & (own[:, 0] > 0) & (own[:, 0] >= floor * mean)
    reason = "" if kept.any() else f"no image's map is changed at t = 0 by {floor:g} of the distance between images"
    return Sample(columns, kept, reason)


def quotient(means: Floats) -> Floats:
    """Give 1 - rho(T) / rho(0) from four means, shape (4, b)."""
    own0, own1, others0, others1 = means
    result: Floats = 1 - (own1 / others1) / (own0 / others0)
    return result


def completion_index(
    data: xr.Dataset,
    names: list[str],
    block: int,
    resampler: Resampler,
    *,
    region: str = "whole",
    floor: float = FLOOR,
) -> Estimate:
    """Give 1 - rho(T) / rho(0), rho the distance from the own intact map over the mean distance between images.

    Parameters
    ----------
    data : xarray.Dataset
        From the completion experiment.
    names : list of str
        Conditions, averaged: the placements of one mask.
    block : int
    resampler : Resampler
    region : str
        whole, inside, border or outside.
    floor : float
        Share of the mean distance between images at t = 0 below which an image is left out, and counted.

    Returns
    -------
    Estimate
        A ratio of sums over images. 1: every masked image reaches its own intact map; 0: the difference stays as it is
        against those between images, whatever happens to the maps' size; below 0: it grows. Undefined, with its reason,
        where no image is changed or all have the same maps.

    Notes
    -----
    It misleads where a mask is black: the flow may take away the black square's own contrast, for which nothing needs
    to be completed. Compare fills of grey and of the mean, and noise of equal norm.
    """
    found = sample(data, names, block, region, floor)
    if found.reason:
        return undefined(found.reason, found.excluded)
    return resampler.estimate(counted(found.columns, found.kept), lambda m: quotient(m)[None], found.excluded)


def index_difference(
    data: xr.Dataset, first: list[str], second: list[str], block: int, resampler: Resampler, *, floor: float = FLOOR
) -> Estimate:
    """Give the index of the first conditions minus that of the second, paired over the images that both count.

    Examples
    --------
    >>> index_difference.__name__
    'index_difference'
    """
    one, two = (sample(data, names, block, "whole", floor) for names in (first, second))
    kept = one.kept & two.kept
    reason = one.reason or two.reason or ("" if kept.any() else "no image counts under both conditions")
    if reason:
        return undefined(reason, int((~kept).sum()))
    columns = [*counted(one.columns, kept), *counted(two.columns, kept)]
    return resampler.estimate(columns, lambda m: (quotient(m[:4]) - quotient(m[4:]))[None], int((~kept).sum()))


def relative_distance(data: xr.Dataset, names: list[str], block: int, region: str = "whole") -> Floats:
    """Give rho(t), the sum of own distances over the sum of distances to others, shape (time,).

    NaN where no image was solved, or different images have the same maps.
    """
    fine = solved_images(data, names)
    own, others = (
        averaged(data, name, names, block=block, region=region)[fine].sum(axis=0) for name in ("distance", "between")
    )
    rho: Floats = np.divide(own, others, out=np.full_like(own, np.nan), where=others > 0)
    return rho
