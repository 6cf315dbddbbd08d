"""States what a recording will hold, before the first image is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from dcnbio.errors import InputError
from dcnbio.model.convolution_form import layer_forms
from dcnbio.model.engine import available
from dcnbio.model.network import Network
from dcnbio.model.solve import solve_times
from dcnbio.model.status import Status
from dcnbio.model.weights import weights_id
from dcnbio.probe.settings import ProbeSettings
from dcnbio.probe.stimuli import Stimuli
from dcnbio.recording import BlockLayout, RecordingLayout

__all__ = ["block_times", "numbers", "plan"]


def block_times(net: Network, block: int, settings: ProbeSettings) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the solver times at which a block is recorded; a residual block has an input and an output alone."""
    if net.spec.depth == "residual":
        return np.array([0.0, 1.0])
    end = net.spec.integration_time[block - 1]
    times: np.ndarray[Any, np.dtype[np.float64]] = solve_times(settings.wanted_times, end).numpy()
    # with T = 0 input and output are one
    return np.unique(times)


def map_shapes(net: Network, size: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Give (channel, y, x) of every block for images of this size, without running any solver."""
    weight = next(net.parameters())
    try:
        with torch.no_grad():
            h = net.stem(torch.zeros(1, 3, *size, dtype=weight.dtype, device=weight.device))
            shapes = [tuple(h.shape[1:])]
            for transition in net.transitions:
                h = transition(h)
                shapes.append(tuple(h.shape[1:]))
    except (RuntimeError, ValueError) as error:  # torch's words for maps that its layers cannot take
        raise InputError(
            f"images are {size[1]} x {size[0]} pixels, too small for the {len(net.blocks)} blocks of {net.spec.row}; "
            "give 32 x 32."
        ) from error
    return [(int(c), int(y), int(x)) for c, y, x in shapes]


def plan(net: Network, stimuli: Stimuli, settings: ProbeSettings) -> RecordingLayout:
    """Lay out the recording."""
    shapes = map_shapes(net, (stimuli.images.shape[2], stimuli.images.shape[3]))
    blocks = [
        BlockLayout(f"block{b}", block_times(net, b, settings), shapes[b - 1], dtype=settings.dtype)
        for b in settings.chosen_blocks(net)
    ]
    known = len(stimuli.class_names) == net.spec.classes
    names = stimuli.class_names if known else [str(i) for i in range(net.spec.classes)]
    return RecordingLayout(
        stimulus=stimuli.stimulus,
        labels=stimuli.labels,
        files=stimuli.files,
        class_names=names,
        blocks=blocks,
        batch_size=settings.batch_size,
        nfe_per="batch" if settings.stepping == "shared" else "image",
        statuses=tuple(status.name.lower() for status in Status),
    )


def numbers(net: Network, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    """Name everything that the numbers of a recording follow from, for its provenance."""
    return {
        "weights": weights_id(net.state_dict()),
        "spec": net.spec.to_dict(),
        "images_id": stimuli.identity,
        "transform": stimuli.transform,
        "mask": settings.mask,
        "fill": settings.fill if settings.mask is not None else None,
        "contrast": settings.contrast,
        "solver": {
            "method": settings.method,
            "rtol": settings.rtol,
            "atol": settings.atol,
            "stepping": settings.stepping,
            "step_size": settings.step_size,
            "max_steps": settings.max_steps,
            "max_evaluations": settings.max_evaluations,
        },
        "batch_size": settings.batch_size,
        "dtype": settings.dtype,
        "device": settings.device,
        "tf32": False,
        "engine": "compiled" if available() else "torch",
        "convolution": layer_forms(net),
    }
