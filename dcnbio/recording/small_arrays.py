"""Writes a node's variables as Zarr arrays: many small files, for which Zarr's own writer takes 4 ms each."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt
import xarray as xr

__all__ = ["write_node"]

CHUNK_BYTES = 8_000_000
TEXT_BYTES = 64  # of one text, about
TEXT_KINDS = "OTU"


def write_node(folder: Path, dataset: xr.Dataset) -> None:
    """Write a group with an array for each variable; nothing is flushed to the disk.

    The format is that of Zarr's public specification, version 3, with xarray's names of dimensions and coordinates. A
    checksum in each chunk lets every reader see a flipped bit; every chunk is written, also one of fill values.

    Parameters
    ----------
    folder : Path
        Of the group; made where it is not there.
    dataset : xarray.Dataset
        Numbers and texts, each variable with one dimension at least.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_node(Path(folder), xr.Dataset({"nfe": ("stimulus", [14, 20])}, {"file": ("stimulus", ["a", "b"])}))
    ...     xr.open_zarr(folder, consolidated=False)["nfe"].file.values.tolist()
    ['a', 'b']
    """
    folder.mkdir(parents=True, exist_ok=True)
    beside = coordinates_beside(dataset)
    for name, variable in dataset.variables.items():
        own = beside.get(str(name), [])
        write_array(folder / str(name), variable, {**variable.attrs, **({"coordinates": " ".join(own)} if own else {})})
    lone = set(dataset.coords) - set(dataset.dims) - {name for own in beside.values() for name in own}
    attributes = {**dataset.attrs, **({"coordinates": " ".join(sorted(map(str, lone)))} if lone else {})}
    write_json(folder, {"node_type": "group", "attributes": attributes})


def coordinates_beside(dataset: xr.Dataset) -> dict[str, list[str]]:
    """Name the coordinates that each variable has beside those of its dimensions, as xarray writes it down."""
    others = sorted(str(name) for name in dataset.coords if name not in dataset.dims)
    return {
        str(name): [other for other in others if set(dataset[other].dims) <= set(variable.dims)]
        for name, variable in dataset.data_vars.items()
    }


def write_json(folder: Path, values: dict[str, Any]) -> None:
    """Write the metadata of a group or an array."""
    Path(folder, "zarr.json").write_text(json.dumps({"zarr_format": 3, **values}, ensure_ascii=False), "utf-8")


def write_array(folder: Path, variable: xr.Variable, attributes: dict[str, Any]) -> None:
    """Write one variable, cut along its first dimension."""
    values = np.asarray(variable.values)
    text = values.dtype.kind in TEXT_KINDS
    fill: Any = "" if text else np.nan if values.dtype.kind == "f" else 0
    row = TEXT_BYTES if text else values[:1].nbytes
    chunk = (min(len(values), max(1, CHUNK_BYTES // row)), *values.shape[1:])
    endian = {"configuration": {"endian": "little"}} if values.dtype.itemsize > 1 else {}
    write_encoded(folder, whole_chunks(values, chunk, fill), text)
    write_json(
        folder,
        {
            "node_type": "array",
            "shape": list(values.shape),
            "data_type": "string" if text else values.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": "NaN" if fill is np.nan else fill,
            "codecs": [{"name": "vlen-utf8"} if text else {"name": "bytes", **endian}, {"name": "crc32c"}],
            "attributes": attributes,
            "dimension_names": list(variable.dims),
        },
    )


def whole_chunks(values: npt.NDArray[Any], shape: tuple[int, ...], fill: Any) -> Iterator[npt.NDArray[Any]]:
    """Cut an array into chunks, the last of which is filled up."""
    for start in range(0, len(values), shape[0]):
        chunk = values[start : start + shape[0]]
        if len(chunk) < shape[0]:
            rest = np.full((shape[0] - len(chunk), *shape[1:]), fill, dtype=values.dtype)
            chunk = np.concatenate([chunk, rest])
        yield chunk


def write_encoded(folder: Path, chunks: Iterator[npt.NDArray[Any]], text: bool) -> None:
    """Write each chunk to its file, with its checksum behind it."""
    for number, chunk in zip(itertools.count(), chunks, strict=False):
        path = Path(folder, "c", str(number), *["0"] * (chunk.ndim - 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        data = encoded_texts(chunk.ravel().tolist()) if text else chunk.astype(chunk.dtype.newbyteorder("<")).tobytes()
        path.write_bytes(data + google_crc32c.value(data).to_bytes(4, "little"))


def encoded_texts(texts: list[str]) -> bytes:
    r"""Encode texts: how many there are, and each behind its length.

    Examples
    --------
    >>> encoded_texts(["a"])
    b'\x01\x00\x00\x00\x01\x00\x00\x00a'
    """
    parts = [text.encode() for text in texts]
    return struct.pack("<I", len(parts)) + b"".join(struct.pack("<I", len(part)) + part for part in parts)
