"""Runs the network batch by batch and hands on what is to be recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network, Run
from dcnbio.model.ode_block import TimesRequest
from dcnbio.model.patch import Patch
from dcnbio.probe.error_estimate import Errors, ErrorSample
from dcnbio.probe.interventions import Interventions
from dcnbio.probe.outcome import Outcome, finite_images, outcomes, run_finite
from dcnbio.probe.precision import held_still
from dcnbio.probe.reducing import BlockInMotion, reduced
from dcnbio.probe.selection import Part
from dcnbio.probe.settings import ProbeSettings
from dcnbio.recording import RECORDED_TIME, Batch, BlockBatch, BlockLayout, RecordingLayout
from dcnbio.recording.reductions import REDUCTIONS, find_reductions

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
    interventions : Interventions
    intact : float32 array [n, 3, y, x], optional
        The images without mask, where what is recorded is compared with them.
    error_sample : ErrorSample, optional
        The images whose error is estimated, where that is wanted.
    """

    net: Network
    images: NDArray[np.float32]
    problems: list[str]
    layout: RecordingLayout
    settings: ProbeSettings
    interventions: Interventions
    intact: NDArray[np.float32] | None = None
    error_sample: ErrorSample | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """One batch, run.

    Attributes
    ----------
    taken : bool array [image]
        Which images of the batch were run.
    run : Run or None
        Of those; None if there are none.
    patches : list of Patch
        Of those.
    intact : Run or None
        Of those without mask and patches, where that is wanted.
    errors : dict of int to dict of str to array
        Estimated, by block, of all images of the batch; empty where that is not wanted.
    """

    taken: NDArray[np.bool_]
    run: Run | None
    patches: list[Patch]
    intact: Run | None
    errors: dict[int, Errors]


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


def padded(values: NDArray[Any], times: int) -> NDArray[Any]:
    """Fill up with NaN the accepted steps that no image of the batch took."""
    missing = times - values.shape[1]
    widths = [(0, 0), (0, missing)] + [(0, 0)] * (values.ndim - 2)
    return np.pad(values, widths, constant_values=np.nan) if missing > 0 else values


def recorded_part(block: BlockLayout, size: tuple[int, ...]) -> Part:
    """Find the part of maps of this (channel, y, x) that a layout announces."""
    (row, column), (_, y, x) = block.origin, block.shape
    channel, height, width = size
    rows, columns = slice(row, row + y), slice(column, column + x)
    return Part(tuple(block.channels.tolist()), rows, columns, (channel, height, width))


def block_batch(job: Job, block: BlockLayout, solved: Solved, run: Run, outcome: Outcome) -> BlockBatch:
    """Turn a block's solution into arrays, with those of its times that are to be stored."""
    number, taken = block_number(block), solved.taken
    solution = run.blocks[number - 1]
    work, stored = solution.work, len(block.times)
    part = recorded_part(block, solution.path.shape[2:])
    steps = iter(work.step_times)
    h = None
    if block.store_h:
        h = padded(spread(part.of(solution.path[:, :stored]).detach().cpu().numpy(), taken, np.nan), stored)
    names = [variable.name for variable in block.extra if variable.name in REDUCTIONS]
    intact = None if solved.intact is None else solved.intact.blocks[number - 1].path
    motion = BlockInMotion(job.net, number, part, job.settings.solver, solved.patches, intact)
    with held_still(job.net):
        extra: Errors = {**reduced(motion, solution, stored, find_reductions(names), taken)} if names else {}
    extra |= solved.errors.get(number, {})
    if block.accepted:
        extra[RECORDED_TIME] = padded(spread(solution.times.numpy(), taken, np.nan), stored)
    return BlockBatch(
        h=h,
        nfe=spread(work.nfe.numpy(), taken, 0),
        accepted=spread(work.accepted.numpy(), taken, 0),
        rejected=spread(work.rejected.numpy(), taken, 0),
        status=outcome.status,
        step_times=[np.array(next(steps) if image else ()) for image in taken],
        reasons=outcome.reasons,
        extra=extra,
    )


def empty_batch(layout: RecordingLayout, block: BlockLayout, outcome: Outcome, errors: Errors) -> BlockBatch:
    """Give the record of a batch of which no image could be used."""
    n, sizes = len(outcome.reasons), layout.sizes(block)
    none = np.zeros(n, dtype=np.int64)
    h = np.full((n, *block.sizes.values()), np.nan, dtype=block.dtype) if block.store_h else None
    extra = {one.name: np.full((n, *(sizes[dim] for dim in one.dims)), np.nan) for one in block.extra} | errors
    return BlockBatch(h, none, none, none, outcome.status, [()] * n, outcome.reasons, extra)


def usable(job: Job, positions: NDArray[np.intp]) -> tuple[NDArray[np.float32], list[str]]:
    """Give images, NaN where their patch has no numbers, with what is wrong with each."""
    images, problems = job.images[positions], [job.problems[i] for i in positions]
    for place, problem in job.interventions.unfit(positions).items():
        images[place], problems[place] = np.nan, problems[place] or problem
    return images, problems


def wanted_times(block: BlockLayout) -> TimesRequest:
    """Give the times of a block as a network takes them."""
    return "accepted" if block.accepted else torch.from_numpy(block.times.copy())


def solve_batch(
    job: Job, images: NDArray[np.float32], positions: NDArray[np.intp], times: dict[int, TimesRequest]
) -> Solved:
    """Run the images of a batch that can be run; again without mask and patches, or closer, where that is wanted."""
    taken = finite_images(images)
    patches = job.interventions.of(positions[taken])
    run = run_finite(job.net, images, job.settings, times, patches)
    intact = None if job.intact is None else run_finite(job.net, job.intact[positions[taken]], job.settings, times)
    errors = estimated_errors(job, images, positions, run, times)
    return Solved(taken, run, patches, intact, errors)


def estimated_errors(
    job: Job,
    images: NDArray[np.float32],
    positions: NDArray[np.intp],
    run: Run | None,
    times: dict[int, TimesRequest],
) -> dict[int, Errors]:
    """Estimate the errors of h in every block that is recorded; nothing where that is not wanted."""
    if job.error_sample is None:
        return {}
    blocks = {block_number(block): block for block in job.layout.blocks}
    parts = {number: recorded_part(block, job.interventions.sizes[number]) for number, block in blocks.items()}
    return job.error_sample.errors(images, positions, run, parts, times)


def batch_of(job: Job, first: int, solved: Solved, fared: list[Outcome]) -> Batch:
    """Give the arrays of a batch, all of them missing where no image could be run."""
    run, n = solved.run, len(solved.taken)
    outcome_of = {block.name: fared[block_number(block) - 1] for block in job.layout.blocks}
    if run is None:
        logits = np.full((n, job.net.spec.classes), np.nan, dtype=job.settings.dtype)
        errors = {b.name: solved.errors.get(block_number(b), {}) for b in job.layout.blocks}
        empty = {b.name: empty_batch(job.layout, b, outcome_of[b.name], errors[b.name]) for b in job.layout.blocks}
        return Batch(first, logits, empty)
    blocks = {b.name: block_batch(job, b, solved, run, outcome_of[b.name]) for b in job.layout.blocks}
    return Batch(first, spread(run.logits.cpu().numpy(), solved.taken, np.nan), blocks)


def run_batch(job: Job, index: int, times: dict[int, TimesRequest]) -> Batch:
    """Run one batch; its solutions are let go before the next begins."""
    part = job.layout.batch(index)
    positions = np.arange(part.start, part.stop)
    images, problems = usable(job, positions)
    solved = solve_batch(job, images, positions, times)
    fared = outcomes(solved.run, solved.taken, problems, len(job.net.blocks))
    return batch_of(job, part.start, solved, fared)


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
    times = {block_number(block): wanted_times(block) for block in job.layout.blocks}
    for index in range(job.layout.batches):
        if index not in done:
            yield run_batch(job, index, times)
