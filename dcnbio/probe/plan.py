"""States what a recording will hold, before the first image is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from dcnbio.probe.class_labels import network_classes
from dcnbio.probe.error_estimate import reference_settings
from dcnbio.probe.interventions import described
from dcnbio.probe.own_field import own_field
from dcnbio.probe.selection import check_named_blocks, part_of
from dcnbio.probe.settings import ProbeSettings
from dcnbio.probe.stimuli import Stimuli
from dcnbio.recording import RECORDED_TIME, BlockLayout, RecordingLayout, VariableLayout, human_bytes
from dcnbio.recording.network_labels import unnamed_classes
from dcnbio.recording.reductions import Maps, Reduction
from dcnbio.recording.state_error import error_layouts

__all__ = ["INTACT", "block_times", "map_shapes", "numbers", "plan"]

TIME_WORDS = ("solver time at which h is recorded: 0, the ends of accepted steps, T", "solver time")
INTACT = (Maps.INTACT, Maps.INTACT_NORMALISED)
MOST_BYTES = 1e9  # of maps held at once where all images are compared


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


def block_reductions(net: Network, block: int, settings: ProbeSettings) -> tuple[Reduction, ...]:
    """Give the reductions of a block: the readout belongs to the last alone."""
    last = block == len(net.blocks)
    return tuple(one for one in settings.chosen_reductions if last or one.maps is not Maps.READOUT)


def block_layout(
    net: Network, block: int, size: tuple[int, int, int], settings: ProbeSettings, images: int
) -> BlockLayout:
    """Lay out what is recorded of a block, whose maps are of this (channel, y, x), for so many images."""
    part = part_of(block, size, settings.channels, settings.window)
    accepted = settings.accepted and net.spec.depth != "residual"
    extra = [VariableLayout(RECORDED_TIME, ("time",), "float64", *TIME_WORDS)] if accepted else []
    extra += [
        VariableLayout(one.name, ("time", *one.dims), settings.dtype, one.long_name, one.units)
        for one in block_reductions(net, block, settings)
    ]
    extra += error_layouts(min(settings.error_sample, images)) if settings.error_sample else ()
    return BlockLayout(
        name=f"block{block}",
        # every accepted step is an attempt; the first time is 0
        times=np.arange(settings.most_steps + 1.0) if accepted else block_times(net, block, settings),
        shape=part.shape,
        channels=np.array(part.channels),
        dtype=settings.storage or settings.dtype,
        store_h=settings.maps,
        origin=part.origin,
        extra=tuple(extra),
        accepted=accepted,
    )


def check_reductions(net: Network, settings: ProbeSettings, images: int) -> None:
    """Refuse reductions that this network or these images cannot have."""
    for one in settings.chosen_reductions:
        if one.maps is Maps.SLOPE and net.spec.depth == "residual":
            raise InputError(f"reductions has {one.name}, and {net.spec.row} has residual blocks without dh/dt.")
        if one.maps in INTACT and not (settings.mask or settings.patches):
            raise InputError(
                f"reductions has {one.name}, but neither mask nor patch is given that the intact run lacks."
            )
        if one.maps in INTACT and settings.accepted:
            raise InputError(
                f"reductions has {one.name}, which compares at equal times; give times instead of 'accepted'."
            )
        if one.maps is Maps.READOUT and len(net.blocks) not in settings.chosen_blocks(net):
            raise InputError(
                f"reductions has {one.name}, which is of block {len(net.blocks)}, and that is not recorded; record it, "
                "or take onward_logits."
            )
        if one.together and images > settings.batch_size:
            raise InputError(
                f"reductions has {one.name}, which compares all {images} images and so needs them in one batch, and "
                f"batch_size is {settings.batch_size}; use batch_size={images}, or fewer images."
            )


def check_error_sample(net: Network, settings: ProbeSettings) -> None:
    """Refuse to estimate a solver's error where there is no solver."""
    if settings.error_sample and net.spec.depth == "residual":
        raise InputError(
            f"error_sample is {settings.error_sample}, and {net.spec.row} has residual blocks, which no solver "
            "approximates; leave error_sample out."
        )


def check_memory(sizes: Sequence[tuple[int, int, int]], blocks: Sequence[BlockLayout], dtype: str, images: int) -> None:
    """Refuse to compare so many images at once that their maps, of these sizes by block, do not fit in memory."""
    held = {block.name: len(block.times) for block in blocks}
    numbers_each = [math.prod(size) * held.get(f"block{b}", 2) for b, size in enumerate(sizes, 1)]
    bytes_each = sum(numbers_each) * np.dtype(dtype).itemsize
    if images * bytes_each > MOST_BYTES:
        raise InputError(
            f"reductions compares all {images} images, whose maps take {human_bytes(images * bytes_each)} at once; "
            f"{int(MOST_BYTES // bytes_each)} fit {human_bytes(int(MOST_BYTES))}: take fewer images, times or blocks."
        )


def class_names(net: Network, stimuli: Stimuli) -> list[str]:
    """Name the network's classes; by their numbers alone where the images' labels count others."""
    own = network_classes(net)
    if own and (stimuli.labels < 0).all():
        return own
    known = stimuli.class_names == own if own else len(stimuli.class_names) == net.spec.classes
    return stimuli.class_names if known else unnamed_classes(net.spec.classes)


def plan(net: Network, stimuli: Stimuli, settings: ProbeSettings) -> RecordingLayout:
    """Lay out the recording."""
    shapes = map_shapes(net, (stimuli.images.shape[2], stimuli.images.shape[3]))
    chosen = settings.chosen_blocks(net)
    for name in ("channels", "window"):
        check_named_blocks(name, getattr(settings, name), chosen)
    check_reductions(net, settings, len(stimuli))
    check_error_sample(net, settings)
    blocks = [block_layout(net, b, shapes[b - 1], settings, len(stimuli)) for b in chosen]
    if any(one.together for one in settings.chosen_reductions):
        check_memory(shapes, blocks, settings.dtype, len(stimuli))
    return RecordingLayout(
        stimulus=stimuli.stimulus,
        labels=stimuli.labels,
        files=stimuli.files,
        class_names=class_names(net, stimuli),
        blocks=blocks,
        batch_size=settings.batch_size,
        nfe_per="batch" if settings.stepping == "shared" else "image",
        statuses=tuple(status.name.lower() for status in Status),
    )


def error_estimate(settings: ProbeSettings, images: int) -> dict[str, Any]:
    """Name what the error of h is estimated with."""
    reference = reference_settings(settings)
    names = ("method", "stepping", "rtol", "atol", "max_steps", "dtype")
    return {"images": min(settings.error_sample, images)} | {name: getattr(reference, name) for name in names}


def numbers(net: Network, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    """Name everything that the numbers of a recording follow from, for its provenance.

    What of them is recorded is the layout's to say.
    """
    asked: dict[str, Any] = {"patches": [described(patch) for patch in settings.patches]} if settings.patches else {}
    if "interventions" in net.source:
        asked["interventions"] = list(net.source["interventions"])
    if net.spec.vector_field:
        asked["vector_field"] = own_field(net)
    if settings.error_sample:
        asked["error_estimate"] = error_estimate(settings, len(stimuli))
    return asked | {
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
            "max_steps": settings.most_steps,
            "max_evaluations": settings.max_evaluations,
        },
        "batch_size": settings.batch_size,
        "dtype": settings.dtype,
        "device": settings.device,
        "tf32": False,
        "engine": "compiled" if available() else "torch",
        "convolution": layer_forms(net),
    }
