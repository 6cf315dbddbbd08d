"""What came in from outside when a network's training images were moved: black borders make black masks familiar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

__all__ = ["training_border", "with_training_border"]


def training_border(name: str | Path) -> str:
    """Give the border of a checkpoint's training images: "black" or "mirror"; empty where it is not recorded.

    Examples
    --------
    >>> training_border("dcn-ode"), training_border("resnet-blocks"), training_border("dcn-ode-untrained")
    ('black', 'mirror', '')
    """
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.loading import find_checkpoint

    path = find_checkpoint(name)
    if path.suffix != ".safetensors":
        return ""
    data: Mapping[str, Any] = (read_header(path).recipe or {}).get("data") or {}
    moved = data.get("translate", 0) > 0
    return str(data.get("border", "black")) if moved else ""


def with_training_border(experiment: Mapping[str, xr.Dataset], border: str) -> dict[str, xr.Dataset]:
    """Note the border in each variant of a network's experiment, for those that compare networks."""
    return {variant: data.assign_attrs(training_border=border) for variant, data in experiment.items()}
