"""A recording as one netCDF file, written beside its place and then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording.durable import sync_directory
from dcnbio.recording.target import check_target

__all__ = ["write_netcdf"]

CHUNK_BYTES = 8_000_000


def _plain_attributes(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """HDF5 has no None, no mapping and no mixed list: these become JSON; a bool becomes 0 or 1."""
    plain: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, bool | np.bool_):
            plain[str(name)] = int(value)
        elif isinstance(value, str | int | float | np.number | np.ndarray):
            plain[str(name)] = value
        else:
            plain[str(name)] = json.dumps(value, ensure_ascii=False)
    return plain


def _checked(variable: xr.Variable) -> dict[str, Any]:
    """Ask for a checksum in each chunk, by which HDF5 sees a flipped bit; texts and single numbers have none."""
    if not variable.size or not variable.ndim or variable.dtype.kind not in "fiub":
        return {}
    rows = max(1, CHUNK_BYTES // max(1, variable[:1].nbytes))
    return {"fletcher32": True, "chunksizes": (min(rows, variable.shape[0]), *variable.shape[1:])}


def _storable(dataset: xr.Dataset) -> tuple[xr.Dataset, list[str]]:
    """Give a node in memory, whole, in types that netCDF has."""
    # Loaded before the file is opened: Zarr reads on a thread of its own, where HDF5 objects that Python collects
    # meanwhile would wait for the lock that the write holds.
    dataset = dataset.load()
    promoted = [str(name) for name, variable in dataset.variables.items() if variable.dtype == np.float16]
    storable = dataset.assign({name: dataset[name].astype(np.float32) for name in promoted})
    storable.attrs = _plain_attributes(dataset.attrs)
    for name in storable.variables:
        storable[name].attrs = _plain_attributes(dataset[name].attrs)
        storable[name].encoding = _checked(storable[name].variable)
    return storable, promoted


@contextlib.contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Hold the lock by which HDF5 shows that a file is open, so that nobody's open file is replaced."""
    try:
        import fcntl
    except ImportError:  # Windows, where the system itself refuses to replace an open file
        yield
        return
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RecordingError(
                f"{path} is open in this or another program, so it is not replaced; close it there"
            ) from error
        yield


def _replace(part: Path, path: Path) -> None:
    with _unused(path) if path.exists() else contextlib.nullcontext():
        os.replace(part, path)
    sync_directory(path.parent)


def write_netcdf(tree: xr.DataTree, path: str | os.PathLike[str], *, overwrite: bool = False) -> list[str]:
    """Write a recording to a netCDF file; one node at a time is in memory.

    Parameters
    ----------
    tree : xarray.DataTree
        A complete recording.
    path : path
        The file; conventionally ends in ".nc".
    overwrite : bool
        Replace an older recording of dcnbio's.

    Returns
    -------
    list of str
        One sentence for each thing that netCDF cannot hold as it is: float16 becomes float32.

    Raises
    ------
    RecordingError
        When something is in the way or in use, when the recording is unfinished, or when the disk refuses; what was at
        the path is then untouched.

    Examples
    --------
    >>> write_netcdf(xr.DataTree(), "run.nc")
    Traceback (most recent call last):
    ...
    dcnbio.errors.RecordingError: this tree is no complete recording, so it is not written to run.nc; finish it first
    """
    path = Path(path)
    if tree.attrs.get("complete") != 1:
        raise RecordingError(f"this tree is no complete recording, so it is not written to {path}; finish it first")
    check_target(path, overwrite=overwrite)
    if path.is_dir():
        raise RecordingError(f"{path} is a folder; give the name of a file")
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    notices = []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for node in tree.subtree:
            dataset, promoted = _storable(node.to_dataset(inherit=False))
            notices += [
                f"{name} of {node.path} is float16, which netCDF does not have; it is stored as float32"
                for name in promoted
            ]
            dataset.to_netcdf(part, mode="a" if part.exists() else "w", group=node.path, engine="h5netcdf")
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        _replace(part, path)
    except OSError as error:
        reason = error.strerror or error
        raise RecordingError(f"{path} cannot be written: {reason}; make room or choose another place") from error
    finally:
        part.unlink(missing_ok=True)
    return notices
