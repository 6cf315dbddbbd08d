"""Intact trajectories, computed once for all masks and kept in files while they are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dcnbio.recording.reductions import group_normalised
from dcnbio.recording.reductions.completion_distances import nearer_others, own_distance

__all__ = ["Trajectories"]

CHUNK = 50  # images of the gallery held in memory at a time


@dataclass(frozen=True, eq=False)
class Trajectories:
    """h(t) of intact images in every block, in a folder that is deleted afterwards; one batch at a time is in memory.

    Attributes
    ----------
    folder : Path
    n : int
        Images.
    groups : tuple of int
        Of each block's norms.
    maps : list of array [image, time, channel, y, x]
        On disk, per block.
    normalised : list of array [image, time, channel, y, x]
        On disk: group-normalised, at the times of `searched`.
    """

    folder: Path
    n: int
    groups: tuple[int, ...]
    maps: list[NDArray[np.float32]] = field(default_factory=list)
    normalised: list[NDArray[np.float32]] = field(default_factory=list)

    def searched(self, block: int) -> list[int]:
        """Give the indices of times at which images are retrieved: all in the last block, 0 and T in others."""
        times = self.maps[block].shape[1]
        return list(range(times)) if block == len(self.groups) - 1 else [0, times - 1]

    def keep(self, start: int, paths: list[NDArray[np.float32]]) -> None:
        """Keep the paths of a batch, one per block."""
        for block, path in enumerate(paths):
            if len(self.maps) == block:
                self.maps.append(self.on_disk(f"maps{block}", path.shape[1:]))
                size = (len(self.searched(block)), *path.shape[2:])
                self.normalised.append(self.on_disk(f"normalised{block}", size))
            rows = slice(start, start + len(path))
            self.maps[block][rows] = path
            for place, time in enumerate(self.searched(block)):
                self.normalised[block][rows, place] = group_normalised(path[:, time], self.groups[block])

    def on_disk(self, name: str, size: tuple[int, ...]) -> NDArray[np.float32]:
        """Make an array of all images in a file."""
        return np.lib.format.open_memmap(
            self.folder / f"{name}.npy", mode="w+", dtype=np.float32, shape=(self.n, *size)
        )

    def rank(self, block: int, place: int, rows: slice, maps: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count for each image of a batch the other intact images that are nearer to its maps than its own.

        Parameters
        ----------
        block : int
            From 0.
        place : int
            Which of `searched`.
        rows : slice
            The batch.
        maps : array [image, channel, y, x]
            Group-normalised maps of changed images.
        """
        gallery = self.normalised[block][:, place]
        # float32 as the gallery, so that an image is at distance 0 from itself
        changed = maps.astype(np.float32)
        own = own_distance(changed, gallery[rows]) ** 2
        found = np.zeros(len(maps), dtype=np.int64)
        numbers = np.arange(rows.start, rows.start + len(maps))
        for start in range(0, self.n, CHUNK):
            others = np.arange(start, min(start + CHUNK, self.n))
            same = numbers[:, None] == others[None]
            found += nearer_others(own, changed, gallery[start : start + CHUNK], same)
        return found

    def grams(self, block: int) -> Iterator[NDArray[np.float64]]:
        """Give the inner products of all images' normalised maps, time by time of `searched`."""
        for place in range(len(self.searched(block))):
            rows = np.asarray(self.normalised[block][:, place]).reshape(self.n, -1).astype(np.float64)
            yield rows @ rows.T
