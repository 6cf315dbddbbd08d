"""Solutions between steps, filled in by the compiled engine: many images and times in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from dcnbio.model.engine.library import load, status_of_build
from dcnbio.model.engine.structures import DenseStructure

__all__ = ["dense_output_fits", "fill_dense_output"]


def dense_output_fits(path: Tensor, parts: Sequence[Tensor]) -> bool:
    """Whether the engine can fill this path: maps on the CPU, parts channels-last, no gradient wanted, and it is there.

    Parameters
    ----------
    path : Tensor
        [n, t, C, Y, X].
    parts : sequence of Tensor
        y0, y1, y_mid, f0 and f1, [rows, C, Y, X].
    """
    return (
        path.dim() == 5
        and path.device.type == "cpu"
        and path.dtype in (torch.float32, torch.float64)
        and path.is_contiguous()
        and not torch.is_grad_enabled()
        and all(part.dtype == path.dtype and part.shape[1:] == path.shape[2:] for part in parts)
        and all(part.is_contiguous(memory_format=torch.channels_last) for part in parts)
        and bool(status_of_build())
    )


def fill_dense_output(
    path: Tensor, parts: Sequence[Tensor], rows: Sequence[int], places: Sequence[int], weights: Tensor
) -> None:
    """Write sum_i weights[k, i] parts[i][rows[k]] to the maps numbered places[k] of a path, for all k.

    A map's numbers depend on its own parts and weights alone, whatever else is filled in and by how many threads.

    Parameters
    ----------
    path : Tensor
        [n, t, C, Y, X], written to; map number image * t + time.
    parts : sequence of five Tensor
        [rows, C, Y, X], channels-last.
    rows, places : sequence of int
    weights : Tensor
        [k, 5], of the parts' type.

    Raises
    ------
    RuntimeError
        Where the engine is not available; ask `dense_output_fits` first.
    """
    count = len(rows)
    held = weights.contiguous()
    structure = DenseStructure(
        count=count,
        threads=torch.get_num_threads(),
        pixels=path.shape[3] * path.shape[4],
        channels=path.shape[2],
        rows=(ctypes.c_int64 * count)(*rows),
        places=(ctypes.c_int64 * count)(*places),
        weights=held.data_ptr(),
        parts=(ctypes.c_void_p * 5)(*(part.data_ptr() for part in parts)),
        path=path.data_ptr(),
    )
    code = getattr(load(), f"dcnbio_dense_{str(path.dtype).removeprefix('torch.')}")(ctypes.byref(structure))
    if code == 1:
        raise MemoryError("The compiled engine ran out of memory.")
    if code:
        raise RuntimeError("The compiled engine failed to run its threads.")
