"""How large a recording will be, and whether the disk has room for it."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import numpy as np

from dcnbio.errors import RecordingError
from dcnbio.recording.schema import RecordingLayout

__all__ = ["check_free_space", "estimate_bytes", "human_bytes"]

# nfe, accepted, rejected and status of a block, and some step times, per image; index, label and name of an image
BLOCK_ROW = 3 * 8 + 1 + 16 * 8
ROOT_ROW = 2 * 8 + 64


def estimate_bytes(layout: RecordingLayout) -> int:
    """Estimate the bytes of a recording on the disk; h is stored uncompressed.

    Where h is recorded at the accepted steps this is the most it can be: what an image does not take is not stored.

    Parameters
    ----------
    layout : RecordingLayout
        What will be recorded.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> from dcnbio.recording import BlockLayout
    >>> block = BlockLayout("block1", np.linspace(0, 2, 50), (32, 30, 30))
    >>> layout = RecordingLayout(np.arange(100), np.full(100, -1), [""] * 100, ["cat"] * 10, [block], 100)
    >>> human_bytes(estimate_bytes(layout))
    '576 MB'
    """
    row = ROOT_ROW + 4 * len(layout.class_names)
    for block in layout.blocks:
        row += block.image_bytes + BLOCK_ROW
        for variable in block.extra:
            cells = math.prod(layout.sizes(block)[dim] for dim in variable.dims)
            row += cells * np.dtype(variable.dtype).itemsize
    return layout.n * row


def human_bytes(count: int) -> str:
    """Write a number of bytes for people, in powers of 1000 and three digits.

    Parameters
    ----------
    count : int
        Bytes.

    Returns
    -------
    str

    Examples
    --------
    >>> human_bytes(98_944_000_000), human_bytes(512)
    ('98.9 GB', '512 bytes')
    """
    if count < 1000:
        return f"{count} bytes"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


def check_free_space(path: str | os.PathLike[str], need: int) -> None:
    """Refuse a recording for which the disk has no room.

    Parameters
    ----------
    path : path
        Where it will be written; need not exist.
    need : int
        Bytes it will take.

    Raises
    ------
    RecordingError
        When fewer bytes are free.

    Examples
    --------
    >>> check_free_space("run.zarr", 1)
    """
    folder = Path(path).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < need:
        raise RecordingError(
            f"{path} needs {human_bytes(need)} and {folder} has {human_bytes(free)} free; "
            f"free some space, record fewer images, times or blocks, or write elsewhere"
        )
