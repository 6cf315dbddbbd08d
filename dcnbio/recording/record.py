"""The small variables of a batch as a flat dictionary of checked arrays: the same in memory and in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.errors import RecordingError
from dcnbio.recording.batch import Batch, BlockBatch
from dcnbio.recording.schema import BlockLayout, RecordingLayout
from dcnbio.stored_text import stored_text

__all__ = ["Record", "batch_index", "hidden_state", "merge", "small_variables"]

Record = dict[str, npt.NDArray[Any]]


def batch_index(layout: RecordingLayout, batch: Batch) -> int:
    """Index of a batch on the layout's grid.

    Raises
    ------
    RecordingError
        When its first position is not the start of a batch.
    """
    index, offset = divmod(int(batch.first), layout.batch_size)
    if offset or not 0 <= index < layout.batches:
        raise RecordingError(
            f"first is {batch.first}; batches of this recording start at multiples of batch_size = "
            f"{layout.batch_size} below {layout.n}"
        )
    return index


def _column(values: npt.ArrayLike, name: str, n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise RecordingError(f"{name} has shape {array.shape}; give one entry for each of the batch's {n} images")
    return array.astype(dtype)


def _step_times(values: Sequence[npt.ArrayLike], name: str, n: int) -> npt.NDArray[np.float64]:
    if len(values) != n:
        raise RecordingError(f"{name} has {len(values)} entries; give one for each of the batch's {n} images")
    rows = [np.asarray(row, dtype=np.float64).ravel() for row in values]
    # one column at least: an array without columns has no chunk in any store
    padded = np.full((n, max(1, *(row.size for row in rows))), np.nan)
    for row, times in zip(padded, rows, strict=True):
        row[: times.size] = times
    return padded


def _block_variables(whole: RecordingLayout, layout: BlockLayout, batch: BlockBatch, n: int) -> Record:
    name, statuses, sizes = layout.name, len(whole.statuses), whole.sizes(layout)
    record: Record = {}
    for counter in ("nfe", "accepted", "rejected"):
        record[counter] = _column(getattr(batch, counter), f"{counter} of {name}", n, np.int64)
    status = _column(batch.status, f"status of {name}", n, np.int64)
    if status.min() < 0 or status.max() >= statuses:
        raise RecordingError(f"status of {name} holds {status.max()}; this recording names codes 0 to {statuses - 1}")
    record["status"] = status.astype(np.int8)
    reasons = [stored_text(text) for text in batch.reasons]
    record["reason"] = _column(reasons or [""] * n, f"reasons of {name}", n, np.str_)
    record["step_time"] = _step_times(batch.step_times, f"step_times of {name}", n)
    if set(batch.extra) != {variable.name for variable in layout.extra}:
        raise RecordingError(f"extra of {name} holds {sorted(batch.extra)}; the layout names the variables expected")
    for variable in layout.extra:
        array = np.asarray(batch.extra[variable.name])
        shape = (n, *(sizes[dim] for dim in variable.dims))
        if array.shape != shape:
            raise RecordingError(f"{variable.name} of {name} has shape {array.shape}; the layout says {shape}")
        record[variable.name] = array.astype(variable.dtype)
    return record


def small_variables(layout: RecordingLayout, batch: Batch) -> Record:
    """Check a batch against the layout and gather everything of it but h.

    Parameters
    ----------
    layout : RecordingLayout
        What was announced.
    batch : Batch
        What was computed.

    Returns
    -------
    dict of str to array
        ``"logits"`` [image, class] and, for each block, ``"block1/nfe"`` and so on, [image, ...].

    Raises
    ------
    RecordingError
        When a shape, a name or a status code is not what the layout says.
    """
    where = layout.batch(batch_index(layout, batch))
    n = where.stop - where.start
    shape = (n, len(layout.class_names))
    if np.shape(batch.logits) != shape:
        raise RecordingError(f"logits has shape {np.shape(batch.logits)}; this batch needs {shape}")
    names = [block.name for block in layout.blocks]
    if sorted(batch.blocks) != sorted(names):
        raise RecordingError(f"the batch holds blocks {sorted(batch.blocks)}; the layout says {sorted(names)}")
    record: Record = {"logits": np.asarray(batch.logits)}
    for block in layout.blocks:
        variables = _block_variables(layout, block, batch.blocks[block.name], n)
        record.update({f"{block.name}/{name}": array for name, array in variables.items()})
        _check_h(block, batch.blocks[block.name].h, n)
    return record


def _check_h(layout: BlockLayout, h: npt.NDArray[Any] | None, n: int) -> None:
    shape = (n, *layout.sizes.values()) if layout.store_h else None
    found = None if h is None else h.shape
    if found != shape:
        raise RecordingError(f"h of {layout.name} has shape {found}; the layout says {shape}")


def hidden_state(h: npt.NDArray[Any], layout: BlockLayout) -> npt.NDArray[Any]:
    """Give h, or a part of it, the type in which it is stored.

    Raises
    ------
    RecordingError
        When a finite value becomes infinite, so that no overflow of float16 passes in silence.
    """
    with np.errstate(over="ignore"):
        stored = np.ascontiguousarray(h, dtype=layout.dtype)
    if stored.dtype.itemsize < h.dtype.itemsize and (np.isinf(stored) & np.isfinite(h)).any():
        limit = np.finfo(stored.dtype).max
        raise RecordingError(
            f"h of {layout.name} reaches {np.nanmax(np.abs(h)):.6g}, beyond the {limit:.6g} that {layout.dtype} holds; "
            f"store float32"
        )
    return stored


def merge(records: Sequence[Mapping[str, npt.NDArray[Any]]]) -> Record:
    """Join the records of several batches along ``stimulus``; step times are padded with NaN to the longest.

    Examples
    --------
    >>> merge([{"b/step_time": np.zeros((1, 1))}, {"b/step_time": np.zeros((1, 2))}])["b/step_time"]
    array([[ 0., nan],
           [ 0.,  0.]])
    """
    merged: Record = {}
    for name in records[0]:
        parts = [record[name] for record in records]
        if name.endswith("/step_time"):
            width = max(part.shape[1] for part in parts)
            parts = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan) for part in parts]
        merged[name] = np.concatenate(parts)
    return merged
