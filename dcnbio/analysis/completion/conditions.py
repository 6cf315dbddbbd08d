"""Finds conditions of an experiment and averages what their placements gave."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["INTACT", "averaged", "condition_groups", "main_mask", "mask_sides", "named_conditions", "solved_images"]

INTACT = "intact"


def named_conditions(data: xr.Dataset, kind: str, side: int | None = None, fill: str | None = None) -> list[str]:
    """List the conditions of a kind: for an odd mask its four placements.

    Parameters
    ----------
    data : xarray.Dataset
        From the completion experiment.
    kind : str
    side : int, optional
    fill : str, optional
        "zeros", "grey", "mean".
    """
    chosen = data["kind"].values == kind
    if side is not None:
        chosen &= data["side"].values == side
    if fill is not None:
        chosen &= data["fill"].values == fill
    return [str(name) for name in data["condition"].values[chosen]]


def mask_sides(data: xr.Dataset) -> list[int]:
    """List the sides of the masks of zeros, ascending."""
    chosen = (data["kind"].values == "mask") & (data["fill"].values == "zeros")
    return sorted({int(side) for side in data["side"].values[chosen]})


def main_mask(data: xr.Dataset) -> list[str]:
    """Give the mask that controls are made for."""
    names = named_conditions(data, "mask", int(data.attrs["main"]), "zeros")
    if not names:
        raise InputError(
            f"data has no mask of side {data.attrs['main']}, which its controls are made for; run it again."
        )
    return names


def solved_images(data: xr.Dataset, *groups: list[str]) -> np.ndarray:
    """Say which images were solved under all these conditions, and intact."""
    names = [INTACT, *(name for group in groups for name in group)]
    found: np.ndarray = (data["solved"].sel(condition=names).values == 1).all(axis=0)
    return found


def averaged(data: xr.Dataset, variable: str, names: list[str], **where: int | str) -> Floats:
    """Give a variable under conditions, averaged over them, at the named place."""
    chosen = data[variable].sel({"condition": names, **where})
    values: Floats = chosen.mean("condition", skipna=False).values.astype(np.float64)
    return values


def condition_groups(data: xr.Dataset) -> dict[str, list[str]]:
    """Give what is averaged together: the placements of a mask by its side, every other condition alone."""
    found: dict[str, list[str]] = {}
    for name in data["condition"].values:
        found.setdefault(str(name).split(" place ")[0], []).append(str(name))
    return found
