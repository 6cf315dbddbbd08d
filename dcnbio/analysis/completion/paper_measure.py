"""The paper's D(t) in both readings, with what it would be if nothing but the amplitude changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.completion.conditions import averaged, solved_images
from dcnbio.analysis.completion.resampling import Estimate, Resampler, undefined
from dcnbio.analysis.shapes import Floats

__all__ = ["Fall", "difference_curves", "difference_fall"]

READINGS = ("A(t)", "A(0)")


def counted(data: xr.Dataset, names: list[str], block: int) -> tuple[Floats, Floats, int]:
    """Give numerator and amplitude of images that have an amplitude, and how many have none."""
    difference, amplitude = (averaged(data, name, names, block=block) for name in ("difference", "amplitude"))
    fine = solved_images(data, names) & (amplitude > 0).all(axis=1)
    return difference[fine], amplitude[fine], int((~fine).sum())


def difference_curves(data: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Give D(t) = sum |h_im - h_masked| / A (eq. 4 of [1]_), its mean and standard deviation over images.

    Parameters
    ----------
    data : xarray.Dataset
        From the completion experiment.
    names : list of str
        Conditions, averaged: the placements of one mask.

    Returns
    -------
    xarray.Dataset
        ``D`` and ``D_sd`` (reading, block, time) with A the intact map's amplitude at t and at 0; ``null`` (block,
        time), the mean of A(0) / A(t): D / D(0) with A at t when the difference itself stays; ``left_out`` (block),
        images of zero amplitude or unsolved. NaN where no image is left.

    References
    ----------
    .. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.
    """
    blocks, times = data["block"].values, data.sizes["time"]
    mean, spread = (np.full((2, len(blocks), times), np.nan) for _ in range(2))
    null, left_out = np.full((len(blocks), times), np.nan), np.zeros(len(blocks), dtype=np.int64)
    for row, block in enumerate(blocks):
        difference, amplitude, left_out[row] = counted(data, names, int(block))
        if not len(difference):
            continue
        for reading, divisor in enumerate((amplitude, amplitude[:, :1])):
            mean[reading, row] = (difference / divisor).mean(axis=0)
            spread[reading, row] = (difference / divisor).std(axis=0, ddof=1) if len(difference) > 1 else np.nan
        null[row] = (amplitude[:, :1] / amplitude).mean(axis=0)
    dims = ("reading", "block", "time")
    return xr.Dataset(
        {
            "D": (dims, mean, {"long_name": "D(t) of eq. 4, mean over images", "units": "1"}),
            "D_sd": (dims, spread, {"long_name": "standard deviation of D(t) over images", "units": "1"}),
            "null": (("block", "time"), null, {"long_name": "A(0) / A(t), mean over images", "units": "1"}),
            "left_out": ("block", left_out, {"long_name": "images without amplitude", "units": "images"}),
        },
        {"reading": list(READINGS), "block": blocks},
    )


@dataclass(frozen=True)
class Fall:
    """How far D falls from 0 to T, and how far it would fall if the difference itself stayed.

    Attributes
    ----------
    fall : Estimate
        D(T) / D(0), D being means over images.
    null : Estimate
        The same if every image's difference stayed as it is at 0: the mean of A(0) / A(T), weighted with D(0); 1 where
        A is that at 0.
    beyond : Estimate
        Fall minus null, of the same images: below 0 where D falls by more than the amplitude's growth makes it.
    """

    fall: Estimate
    null: Estimate
    beyond: Estimate


def difference_fall(
    data: xr.Dataset, names: list[str], block: int, resampler: Resampler, reading: str = "A(t)"
) -> Fall:
    """Give D(T) / D(0), of means over images, beside what it is for a difference that stays.

    Parameters
    ----------
    data : xarray.Dataset
        From the completion experiment.
    names : list of str
        Conditions, averaged: the placements of one mask.
    block : int
    resampler : Resampler
    reading : str
        "A(t)" or "A(0)"; the null of the latter is 1.
    """
    difference, amplitude, left_out = counted(data, names, block)
    if not len(difference):
        none = undefined("no image has an amplitude at all times", left_out)
        return Fall(none, none, none)
    divisor = amplitude[:, -1] if reading == "A(t)" else amplitude[:, 0]
    start, end, still = difference[:, 0] / amplitude[:, 0], difference[:, -1] / divisor, difference[:, 0] / divisor
    if not start.sum() > 0:
        nothing = undefined("there is nothing to explain")
        return Fall(undefined("no image's map is changed at t = 0", left_out), nothing, nothing)
    return Fall(
        resampler.estimate([end, start], lambda m: (m[0] / m[1])[None], left_out),
        resampler.estimate([still, start], lambda m: (m[0] / m[1])[None], left_out),
        resampler.estimate([end, still, start], lambda m: ((m[0] - m[1]) / m[2])[None], left_out),
    )
