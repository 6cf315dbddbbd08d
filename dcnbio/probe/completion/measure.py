"""Runs a network on intact and changed images batch by batch and keeps numbers per image, block, time and condition."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.images import Box
from dcnbio.model.apart import one_by_one
from dcnbio.model.device import double
from dcnbio.model.status import Status
from dcnbio.probe.completion.conditions import INTACT, Condition, reference_images
from dcnbio.probe.completion.geometry import block_regions
from dcnbio.probe.completion.scalars import Positions, between_scalars, block_scalars, positions_of
from dcnbio.probe.completion.trajectories import Trajectories
from dcnbio.probe.completion.twins import Variant
from dcnbio.probe.precision import held_still
from dcnbio.recording.reductions.completion_regions import REGIONS
from dcnbio.recording.reductions.completion_similarity import unbiased_alignment

__all__ = ["Measured", "measure"]

Paths = list[NDArray[np.float32]]
Arrays = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers of one network, as arrays.

    Attributes
    ----------
    arrays : dict of array
        See `experiment`; dimensions [condition, block, (region), image, time].
    positions : int array [condition, block, region]
    solver_time : array [block, time]
    alignment : array [time]
        CKA of the last block's maps at t with those at T, over intact images.
    solved : bool array [condition, image]
    """

    arrays: Arrays
    positions: NDArray[np.int64]
    solver_time: NDArray[np.float64]
    alignment: NDArray[np.float64]
    solved: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Kept:
    """What the reference images gave.

    Attributes
    ----------
    images : float32 array [image, 3, y, x]
    intact : Trajectories
    scores : array [image, time, class]
    solved : bool array [image]
    between : dict of Box or None to array [block, region, image, time]
        Mean distances between different images, by the place of the mask.
    """

    images: NDArray[np.float32]
    intact: Trajectories
    scores: NDArray[np.float64]
    solved: NDArray[np.bool_]
    between: dict[Box | None, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What all images gave under one condition: arrays without the condition's dimension."""

    arrays: Arrays
    positions: Positions
    solved: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Bench:
    """One network's experiment while it runs.

    Attributes
    ----------
    variant : Variant
    images : float32 array [image, 3, y, x]
    shown : list of Condition
    batch : int
    seed : int
    tick : callable
        Called after every batch with the number of images.
    """

    variant: Variant
    images: NDArray[np.float32]
    shown: list[Condition]
    batch: int
    seed: int
    tick: Callable[[int], object]

    @property
    def groups(self) -> tuple[int, ...]:
        """Groups of each block's norms."""
        spec = self.variant.net.spec
        return tuple(spec.groups(width) for width in spec.widths)

    def generator(self, *numbers: int) -> np.random.Generator:
        """Give a generator of its own for a condition, so that one left out changes no other."""
        return np.random.default_rng([self.seed, *numbers])

    def run(self, images: NDArray[np.float32]) -> tuple[Paths, NDArray[np.float64], NDArray[np.bool_]]:
        """Give the paths of a batch, class scores over time, and which images were solved."""
        net = self.variant.net
        with held_still(net):
            weight = next(net.parameters())
            found = net.run(torch.from_numpy(images).to(weight), self.variant.solver, self.variant.times)
            last = found.blocks[-1].path
            scores = [one_by_one(net.readout, last[:, time], apart=True) for time in range(last.shape[1])]
        solved = np.all([block.work.status.numpy() == Status.OK for block in found.blocks], axis=0)
        paths = [np.ascontiguousarray(block.path.float().cpu().numpy()) for block in found.blocks]
        return paths, double(torch.stack(scores, 1)).cpu().numpy(), solved

    def batches(self) -> list[slice]:
        """Cut the images into batches of nearly equal size, so that every image has others beside it."""
        edges = np.linspace(0, len(self.images), -(-len(self.images) // self.batch) + 1).round().astype(int)
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]


def measure(bench: Bench) -> Measured:
    """Run everything, one reference after the other: natural images, then scrambled ones where these are shown."""
    found: dict[int, Outcome] = {}
    alignment = np.array([])
    for number, reference in enumerate(dict.fromkeys(one.reference for one in bench.shown)):
        images = reference_images(bench.images, reference, bench.generator(0, number))
        with tempfile.TemporaryDirectory(prefix="dcnbio-") as folder:
            kept = keep_intact(bench, images, Path(folder))
            alignment = alignments(kept.intact) if reference == INTACT else alignment
            for place, condition in enumerate(bench.shown):
                if condition.reference == reference:
                    found[place] = show(bench, condition, kept)
    ordered = [found[place] for place in range(len(bench.shown))]
    arrays = {name: np.stack([one.arrays[name] for one in ordered]) for name in ordered[0].arrays}
    blocks = range(len(bench.groups))
    counts = [[[one.positions.count(block, region) for region in REGIONS] for block in blocks] for one in ordered]
    ends = [float(bench.variant.net.block(block + 1).integration_time) for block in blocks]
    times = np.array(ends)[:, None] * np.linspace(0, 1, bench.variant.times)
    return Measured(arrays, np.array(counts), times, alignment, np.stack([one.solved for one in ordered]))


def keep_intact(bench: Bench, images: NDArray[np.float32], folder: Path) -> Kept:
    """Compute the intact trajectories, once for all conditions."""
    intact = Trajectories(folder, len(images), bench.groups)
    scores, solved = [], []
    for rows in bench.batches():
        paths, logits, fine = bench.run(images[rows])
        intact.keep(rows.start, paths)
        scores.append(logits)
        solved.append(fine)
        bench.tick(rows.stop - rows.start)
    return Kept(images, intact, np.concatenate(scores), np.concatenate(solved), {})


def alignments(intact: Trajectories) -> NDArray[np.float64]:
    """Give CKA of the last block's maps at each time with those at T."""
    grams = list(intact.grams(len(intact.groups) - 1))
    return np.array([unbiased_alignment(gram, grams[-1]) for gram in grams])


def show(bench: Bench, condition: Condition, kept: Kept) -> Outcome:
    """Run all images under one condition and compare them with their intact trajectories."""
    intact = kept.intact
    sizes = [(maps.shape[3], maps.shape[4]) for maps in intact.maps]
    size = bench.images.shape[-1]
    named = None if condition.box is None else block_regions(bench.variant.net, condition.box, size)
    positions = positions_of(named, sizes)
    changed = condition.change(kept.images, bench.generator(1, bench.shown.index(condition)))
    parts: list[Arrays] = []
    solved = []
    for rows in bench.batches():
        if condition.kind == INTACT:
            paths = [np.asarray(maps[rows]) for maps in intact.maps]
            logits, fine = kept.scores[rows], kept.solved[rows]
        else:
            paths, logits, fine = bench.run(changed[rows])
            bench.tick(rows.stop - rows.start)
        by_block = [block_scalars(block, path, rows, intact, positions) for block, path in enumerate(paths)]
        part = {name: np.stack([one[name] for one in by_block]) for name in by_block[0]}
        parts.append({**part, "logits": logits})
        solved.append(fine & kept.solved[rows])
    # images lie before time in all but the scores
    axis = {"logits": 0}
    arrays = {name: np.concatenate([part[name] for part in parts], axis=axis.get(name, -2)) for name in parts[0]}
    return Outcome(
        {**arrays, "between": yardstick(bench, condition, kept, positions)}, positions, np.concatenate(solved)
    )


def yardstick(bench: Bench, condition: Condition, kept: Kept, positions: Positions) -> NDArray[np.float64]:
    """Give the mean distance between different intact images, once for every place of a mask."""
    if condition.box not in kept.between:
        parts = []
        for rows in bench.batches():
            paths = [np.asarray(maps[rows]) for maps in kept.intact.maps]
            parts.append(np.stack(between_scalars(paths, bench.groups, positions)))
        kept.between[condition.box] = np.concatenate(parts, axis=-2)
    return kept.between[condition.box]
