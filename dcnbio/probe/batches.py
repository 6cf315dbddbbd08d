"""Runs the network batch by batch and hands on what is to be recorded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network, Run
from dcnbio.model.solution import Solution
from dcnbio.model.status import Status, explain
from dcnbio.probe.precision import held_still
from dcnbio.probe.settings import ProbeSettings
from dcnbio.recording import Batch, BlockBatch, RecordingLayout

__all__ = ["run_batches"]


def block_batch(name: str, solution: Solution, stored: int) -> BlockBatch:
    """Turn a block's solution into arrays, with the first `stored` of its times."""
    work = solution.work
    ends = zip(work.status.tolist(), work.reached.tolist(), strict=True)
    return BlockBatch(
        h=solution.path[:, :stored].detach().cpu().numpy(),
        nfe=work.nfe.numpy(),
        accepted=work.accepted.numpy(),
        rejected=work.rejected.numpy(),
        status=work.status.numpy(),
        step_times=[np.array(times) for times in work.step_times],
        reasons=["" if status == Status.OK else explain(status, name, reached) for status, reached in ends],
    )


def run_images(net: Network, images: NDArray[np.float32], layout: RecordingLayout, settings: ProbeSettings) -> Run:
    """Run one batch of images."""
    tensor = torch.from_numpy(images).to(device=settings.device, dtype=settings.torch_dtype)
    times = {int(block.name.removeprefix("block")): torch.from_numpy(block.times.copy()) for block in layout.blocks}
    with held_still(net):
        return net.run(tensor, settings.solver, dict(times))


def run_batches(
    net: Network,
    images: NDArray[np.float32],
    layout: RecordingLayout,
    settings: ProbeSettings,
    done: frozenset[int] = frozenset(),
) -> Iterator[Batch]:
    """Run the batches of a recording one after the other, leaving out those that are done.

    Memory is that of one batch.
    """
    for index in range(layout.batches):
        if index in done:
            continue
        part = layout.batch(index)
        run = run_images(net, images[part], layout, settings)
        blocks = {}
        for block in layout.blocks:
            solution = run.blocks[int(block.name.removeprefix("block")) - 1]
            blocks[block.name] = block_batch(block.name, solution, len(block.times))
        yield Batch(part.start, run.logits.cpu().numpy(), blocks)
