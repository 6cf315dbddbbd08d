"""The inputs of all blocks scaled, with steps shared by a batch as in the paper: total evaluations, per batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
import xarray as xr

from dcnbio.probe.contrast.condition import Condition, Correction, all_blocks
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.passes import Pass

__all__ = ["WHOLE_PROTOCOLS", "whole_network"]

WHOLE_PROTOCOLS = ("fixed T", "T-hat everywhere", "T-hat and tolerance", "T-hat and time term")


def condition_of(protocol: str, c: float, blocks: int) -> Condition:
    """Give what a protocol changes at contrast c."""
    changed = Correction(tolerance=protocol == "T-hat and tolerance", time_term=protocol == "T-hat and time term")
    return all_blocks(c, blocks, 1.0 if protocol == "fixed T" else c, changed)


def in_batches(experiment: Experiment, condition: Condition) -> Pass:
    """Run batch by batch with shared steps."""
    solver = replace(experiment.solver, stepping="shared")
    batches = torch.split(experiment.images, experiment.settings.batch_size)
    parts = [Experiment(experiment.net, batch, experiment.settings, experiment.tick) for batch in batches]
    found = [part.run(condition, solver) for part in parts]
    # maps are not needed, and those of all images would fill the memory
    return Pass.joined([replace(one, first=one.first[:, :0]) for one in found])


def whole_network(experiment: Experiment) -> xr.Dataset:
    """Scale h(0) of every block by c: T fixed, and T-hat = c T everywhere, as it is and with one thing scaled along.

    That thing is the tolerance, which tells what of the saving is a looser one, or the time term (the time channel is
    read at t / c), which tells what of the accuracy is lost because the blocks see only the beginning of their clock.

    Returns
    -------
    xarray.Dataset
        ``answer`` (protocol, contrast, stimulus); ``nfe`` (protocol, contrast, batch, block); ``batch_images`` (batch);
        ``reference_answer`` and ``reference_nfe`` at contrast 1.
    """
    net, settings = experiment.net, experiment.settings
    starts = np.arange(0, len(experiment.images), settings.batch_size)
    reference = in_batches(experiment, Condition())
    cells = [
        [in_batches(experiment, condition_of(protocol, c, len(net.blocks))) for c in settings.whole]
        for protocol in WHOLE_PROTOCOLS
    ]

    def answers(found: Pass) -> np.ndarray:
        return torch.where(found.solved, found.logits.argmax(1), -1).numpy().astype(np.int16)

    dims = ("protocol", "contrast")
    answer = {"long_name": "class with the largest logit, -1 where a block was not solved", "units": "1"}
    nfe = {"long_name": "function evaluations of the batch", "units": "1"}
    return xr.Dataset(
        {
            "answer": ((*dims, "stimulus"), np.array([[answers(p) for p in line] for line in cells]), answer),
            "nfe": (
                (*dims, "batch", "block"),
                np.array([[p.nfe[starts].numpy() for p in line] for line in cells]),
                nfe,
            ),
            "reference_answer": ("stimulus", answers(reference), answer),
            "reference_nfe": (("batch", "block"), reference.nfe[starts].numpy(), nfe),
            "batch_images": (
                "batch",
                np.diff([*starts, len(experiment.images)]),
                {"long_name": "images of the batch", "units": "1"},
            ),
        },
        {"protocol": list(WHOLE_PROTOCOLS), "contrast": list(settings.whole), "block": np.arange(len(net.blocks)) + 1},
    )
