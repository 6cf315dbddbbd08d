"""A layout as JSON, to go on with it after an interruption, and in short, to compare two of them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.schema import BlockLayout, RecordingLayout, VariableLayout

__all__ = ["layout_from_json", "layout_summary", "layout_to_json"]


def layout_to_json(layout: RecordingLayout) -> dict[str, Any]:
    """Plain lists, texts and numbers that hold the whole layout exactly.

    Examples
    --------
    >>> layout = RecordingLayout([4], [-1], ["a.png"], ["cat"], [BlockLayout("block1", [0.0, 0.1], (1, 2, 2))], 1)
    >>> layout_to_json(layout_from_json(layout_to_json(layout))) == layout_to_json(layout)
    True
    """
    blocks = [
        {
            **{field.name: getattr(block, field.name) for field in dataclasses.fields(block)},
            "times": block.times.tolist(),
            "channels": block.channels.tolist(),
            "shape": list(block.shape),
            "origin": list(block.origin),
            "extra": [{**dataclasses.asdict(variable), "dims": list(variable.dims)} for variable in block.extra],
        }
        for block in layout.blocks
    ]
    return {
        "stimulus": layout.stimulus.tolist(),
        "labels": layout.labels.tolist(),
        "files": list(layout.files),
        "class_names": list(layout.class_names),
        "blocks": blocks,
        "batch_size": layout.batch_size,
        "nfe_per": layout.nfe_per,
        "statuses": list(layout.statuses),
    }


def layout_from_json(values: Mapping[str, Any]) -> RecordingLayout:
    """Build the layout again from `layout_to_json`."""
    blocks = []
    for block in values["blocks"]:
        extra = tuple(VariableLayout(**{**variable, "dims": tuple(variable["dims"])}) for variable in block["extra"])
        blocks.append(BlockLayout(**{**block, "origin": tuple(block["origin"]), "extra": extra}))
    return RecordingLayout(**{**values, "blocks": blocks, "statuses": tuple(values["statuses"])})


def _digest(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def _times_summary(block: BlockLayout) -> str:
    if block.accepted:
        return f"the accepted steps, {block.times.size - 1} at most"
    return f"{block.times.size} times, {block.times[0]:g} to {block.times[-1]:g} ({_digest(block.times)})"


def layout_summary(layout: RecordingLayout) -> dict[str, Any]:
    """Say in a few values what must be equal for two runs to share one store.

    File names are left out: images may be moved, and their hash is in the provenance.

    Examples
    --------
    >>> layout = RecordingLayout([4, 6], [-1, 3], ["a", "b"], ["cat"], [BlockLayout("block1", [0.0], (1, 2, 2))], 1)
    >>> layout_summary(layout)["stimulus"]
    '2 images, 4 to 6 (8525507d3b3d)'
    """
    stimulus = layout.stimulus
    blocks = {}
    for block in layout.blocks:
        blocks[block.name] = {
            "times": _times_summary(block),
            "shape": list(block.shape),
            "channels": f"{block.shape[0]} channels ({_digest(block.channels)})",
            "dtype": block.dtype,
            "store_h": block.store_h,
            "origin": list(block.origin),
            "extra": [[variable.name, *variable.dims, variable.dtype] for variable in block.extra],
        }
    return {
        "stimulus": f"{layout.n} images, {stimulus[0]} to {stimulus[-1]} ({_digest(stimulus)})",
        "labels": _digest(layout.labels),
        "class_names": list(layout.class_names),
        "batch_size": layout.batch_size,
        "nfe_per": layout.nfe_per,
        "statuses": list(layout.statuses),
        "blocks": blocks,
    }
