"""Runs the network batch by batch and hands on what is to be recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network, Run
from dcnbio.probe.outcome import Outcome, finite_images, outcomes, run_finite
from dcnbio.probe.settings import ProbeSettings
from dcnbio.recording import Batch, BlockBatch, BlockLayout, RecordingLayout

__all__ = ["Job", "run_batches"]


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that a recording is computed from.

    Attributes
    ----------
    net : Network
        In the type and on the device of the settings.
    images : float32 array [n, 3, y, x]
        Masked and scaled; NaN where an image cannot be used.
    problems : list of str [n]
        Why an image cannot be used, empty where it can.
    layout : RecordingLayout
    settings : ProbeSettings
    """

    net: Network
    images: NDArray[np.float32]
    problems: list[str]
    layout: RecordingLayout
    settings: ProbeSettings


def spread(values: NDArray[Any], taken: NDArray[np.bool_], fill: float) -> NDArray[Any]:
    """Give rows for all images, of rows for those that were taken."""
    if taken.all():
        return values
    whole = np.full((len(taken), *values.shape[1:]), fill, dtype=values.dtype)
    whole[taken] = values
    return whole


def block_number(block: BlockLayout) -> int:
    """Give the number of a block, from 1."""
    return int(block.name.removeprefix("block"))


def block_batch(block: BlockLayout, run: Run, taken: NDArray[np.bool_], outcome: Outcome) -> BlockBatch:
    """Turn a block's solution into arrays, with those of its times that are to be stored."""
    solution = run.blocks[block_number(block) - 1]
    work = solution.work
    stored = len(block.times)
    steps = iter(work.step_times)
    return BlockBatch(
        h=spread(solution.path[:, :stored].detach().cpu().numpy(), taken, np.nan),
        nfe=spread(work.nfe.numpy(), taken, 0),
        accepted=spread(work.accepted.numpy(), taken, 0),
        rejected=spread(work.rejected.numpy(), taken, 0),
        status=outcome.status,
        step_times=[np.array(next(steps) if image else ()) for image in taken],
        reasons=outcome.reasons,
    )


def empty_batch(block: BlockLayout, outcome: Outcome) -> BlockBatch:
    """Give the record of a batch of which no image could be used."""
    n = len(outcome.reasons)
    none = np.zeros(n, dtype=np.int64)
    h = np.full((n, *block.sizes.values()), np.nan, dtype=block.dtype)
    return BlockBatch(h, none, none, none, outcome.status, [()] * n, outcome.reasons)


def run_batches(job: Job, done: frozenset[int] = frozenset()) -> Iterator[Batch]:
    """Run the batches of a recording one after the other, leaving out those that are done.

    Parameters
    ----------
    job : Job
    done : set of int
        Indices of batches that are recorded already.

    Yields
    ------
    Batch
        Arrays of one batch; memory is that of one batch.
    """
    layout = job.layout
    times = {block_number(block): torch.from_numpy(block.times.copy()) for block in layout.blocks}
    for index in range(layout.batches):
        if index in done:
            continue
        part = layout.batch(index)
        images = job.images[part]
        taken = finite_images(images)
        run = run_finite(job.net, images, job.settings, times)
        fared = outcomes(run, taken, job.problems[part], len(job.net.blocks))
        blocks = {}
        for block in layout.blocks:
            outcome = fared[block_number(block) - 1]
            blocks[block.name] = empty_batch(block, outcome) if run is None else block_batch(block, run, taken, outcome)
        missing = np.full((len(images), job.net.spec.classes), np.nan, dtype=job.settings.dtype)
        yield Batch(part.start, missing if run is None else spread(run.logits.cpu().numpy(), taken, np.nan), blocks)
