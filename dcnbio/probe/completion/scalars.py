"""Numbers of one batch under one condition: distances, amplitudes, ranks and class scores, time by time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.probe.completion.trajectories import Trajectories
from dcnbio.recording.reductions import group_normalised
from dcnbio.recording.reductions.completion_distances import between_distance, own_distance
from dcnbio.recording.reductions.completion_regions import REGIONS

__all__ = ["Positions", "between_scalars", "block_scalars", "positions_of"]

Paths = list[NDArray[np.float32]]
Scalars = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Positions:
    """Which positions of each block's map belong to which region.

    Attributes
    ----------
    masks : tuple of dict of str to bool array [y, x]
        Per block, by region; a region that no position is in is left out.
    """

    masks: tuple[dict[str, NDArray[np.bool_]], ...]

    def count(self, block: int, region: str) -> int:
        """Give the number of positions."""
        mask = self.masks[block].get(region)
        return 0 if mask is None else int(mask.sum())


def positions_of(named: list[NDArray[np.str_]] | None, sizes: list[tuple[int, int]]) -> Positions:
    """Sort positions by region; where a change has no one place there is the whole map alone."""
    found = []
    for block, size in enumerate(sizes):
        masks = {"whole": np.ones(size, dtype=np.bool_)}
        if named is not None:
            masks |= {region: named[block] == region for region in REGIONS[1:]}
        found.append({region: mask for region, mask in masks.items() if mask.any()})
    return Positions(tuple(found))


def between_scalars(paths: Paths, groups: tuple[int, ...], positions: Positions) -> list[NDArray[np.float64]]:
    """Give each intact image's mean distance to the others of its batch, per block: [region, image, time]."""
    found = []
    for block, path in enumerate(paths):
        values = np.full((len(REGIONS), len(path), path.shape[1]), np.nan)
        for time in range(path.shape[1]):
            maps = group_normalised(path[:, time], groups[block])
            for region, mask in positions.masks[block].items():
                values[REGIONS.index(region), :, time] = between_distance(maps[:, :, mask])
        found.append(values)
    return found


def block_scalars(
    block: int, path: NDArray[np.float32], rows: slice, intact: Trajectories, positions: Positions
) -> Scalars:
    """Compare a batch's maps in one block with those of the same images intact.

    Returns
    -------
    dict of array
        ``distance`` [region, image, time], ``difference`` and ``amplitude`` [image, time], ``nearer`` [image, time],
        which is NaN at times at which nothing is retrieved.
    """
    images, times = path.shape[:2]
    distance = np.full((len(REGIONS), images, times), np.nan)
    difference, amplitude, nearer = (np.full((images, times), np.nan) for _ in range(3))
    searched = intact.searched(block)
    for time in range(times):
        own = np.asarray(intact.maps[block][rows, time])
        difference[:, time] = np.abs(path[:, time].astype(np.float64) - own).sum((1, 2, 3))
        amplitude[:, time] = np.abs(own.astype(np.float64)).sum((1, 2, 3))
        maps = group_normalised(path[:, time], intact.groups[block])
        reference = group_normalised(own, intact.groups[block])
        for region, mask in positions.masks[block].items():
            chosen = slice(None) if mask.all() else mask
            value = own_distance(maps[:, :, chosen], reference[:, :, chosen])
            distance[REGIONS.index(region), :, time] = value
        if time in searched:
            nearer[:, time] = intact.rank(block, searched.index(time), rows, maps)
    return {"distance": distance, "difference": difference, "amplitude": amplitude, "nearer": nearer}
