"""Answers over contrast c and block 1's time T, beside those of contrast 1 at T / c, which the scaling law predicts."""

from __future__ import annotations

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.status import Status
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.passes import block_of
from dcnbio.probe.precision import held_still

__all__ = ["surface"]


def answers_at(experiment: Experiment, images: Tensor, times: list[float]) -> NDArray[np.int16]:
    """Solve block 1 once and read the rest of the network out at each time, shape (time, n)."""
    net, solver = experiment.net, experiment.solver
    field = block_of(net, 1).field
    columns = []
    with held_still(net):
        solution = ODEBlock(field, times[-1]).run(net.stem(images), solver, times)
        solved = solution.work.status == Status.OK
        for i in range(len(times)):
            logits = net.run_on(solution.path[:, i], 1, solver).cpu()
            good = solved & torch.isfinite(logits).all(1)
            columns.append(torch.where(good, logits.argmax(1), -1))
            experiment.tick(len(images))
    return torch.stack(columns).numpy().astype(np.int16)


def surface(experiment: Experiment) -> xr.Dataset:
    """Read the network over contrasts c and times T of block 1, and at contrast 1 over every T / c among them.

    Returns
    -------
    xarray.Dataset
        ``answer`` (contrast, time, stimulus), ``predicted`` (contrast, time, stimulus): the answer at contrast 1 and
        T / c; ``time`` in solver time, the block's own T among them; ``time_ratio`` (contrast, time).
    """
    factors, images = experiment.settings.surface, experiment.images
    end = block_of(experiment.net, 1).integration_time
    times = [end * factor for factor in factors]
    answer = np.stack([answers_at(experiment, c * images, times) for c in factors])
    ratios = np.round(np.log10(np.divide.outer(np.ones(len(factors)), factors) * np.array(factors)[:, None]), 9).T
    known = sorted(set(ratios.ravel().tolist()))
    late = answers_at(experiment, images, [end * 10**ratio for ratio in known])
    predicted = np.stack([[late[known.index(ratio)] for ratio in line] for line in ratios.tolist()])
    dims = ("contrast", "time", "stimulus")
    return xr.Dataset(
        {
            "answer": (dims, answer, {"long_name": "class with the largest logit, -1 if not solved", "units": "1"}),
            "predicted": (dims, predicted, {"long_name": "class at contrast 1 and T / c", "units": "1"}),
            "time_ratio": (dims[:2], end * 10**ratios, {"long_name": "T / c", "units": "solver time"}),
        },
        {"contrast": list(factors), "time": ("time", times, {"units": "solver time"})},
        attrs={"integration_time": end},
    )
