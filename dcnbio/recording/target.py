"""What lies where a recording is to be written, and whether it may be replaced."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from dcnbio.errors import RecordingError
from dcnbio.recording.journal import Journal
from dcnbio.recording.occupied import unoccupied

__all__ = ["State", "aside", "check_target", "is_netcdf_name", "root_attributes_of", "starts_as_hdf5", "state_of"]

State = Literal["absent", "unfinished", "complete", "foreign"]
NETCDF_SUFFIXES = (".nc", ".nc4", ".netcdf")
# kinds of other files: a store under such a name would be taken for one
ARRAYS = {".h5", ".hdf", ".hdf5", ".npz", ".npy", ".mat", ".pkl", ".pth", ".pt", ".safetensors"}
OTHER_KINDS = ARRAYS | {".csv", ".tsv", ".txt", ".json", ".xlsx", ".zip", ".tar", ".gz", ".png", ".pdf"}
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_netcdf_name(path: str | os.PathLike[str]) -> bool:
    """Whether a name asks for netCDF rather than Zarr.

    Parameters
    ----------
    path : path
        The name of a recording.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_netcdf_name("run.nc"), is_netcdf_name("run.zarr")
    (True, False)
    """
    return Path(path).suffix.lower() in NETCDF_SUFFIXES


def root_attributes_of(path: Path) -> dict[str, Any] | None:
    """Attributes of a store's root group; None where there is no readable one."""
    try:
        attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return attributes if isinstance(attributes, dict) else None


def starts_as_hdf5(path: Path) -> bool:
    """Whether a file begins as HDF5, and so netCDF, begins."""
    with open(path, "rb") as file:
        return file.read(len(HDF5_MAGIC)) == HDF5_MAGIC


def _is_our_netcdf(path: Path) -> bool:
    if not starts_as_hdf5(path):
        return False
    import h5netcdf

    try:
        with h5netcdf.File(path, "r") as file:
            return "dcnbio_version" in file.attrs
    except (OSError, ValueError, KeyError):
        return False


def state_of(path: str | os.PathLike[str]) -> State:
    """Say what is at a path.

    Parameters
    ----------
    path : path
        A Zarr store or a netCDF file.

    Returns
    -------
    {"absent", "unfinished", "complete", "foreign"}
        "absent" for nothing and for an empty folder; "foreign" for whatever dcnbio did not write.

    Raises
    ------
    RecordingError
        If the place cannot be read.

    Examples
    --------
    >>> state_of("no-such-run.zarr")
    'absent'
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _state_of_folder(path)
        if path.is_file():
            return "complete" if _is_our_netcdf(path) else "foreign"
        return "foreign" if os.path.lexists(path) else "absent"
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error


def _state_of_folder(path: Path) -> State:
    attributes = root_attributes_of(path)
    if attributes is not None and "dcnbio_version" in attributes and attributes.get("complete") == 1:
        return "complete"
    if Journal(path).exists():
        return "unfinished"
    return "foreign" if any(path.iterdir()) else "absent"


def _foreign_entries(path: Path) -> list[str]:
    # everything that dcnbio or Zarr put there is a group or an array, with its own zarr.json, or the journal
    return sorted(
        entry.name
        for entry in path.iterdir()
        if entry.name not in ("zarr.json", ".journal") and not (entry / "zarr.json").is_file()
    )


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False, resume: bool = False) -> State:
    """Refuse to write where something lies, before any work is done; nothing is changed.

    Parameters
    ----------
    path : path
        Where a recording is to be written.
    overwrite : bool
        Whether an older recording may be replaced.
    resume : bool
        Whether an unfinished recording may be gone on with.

    Returns
    -------
    {"absent", "unfinished", "complete"}
        What is there.

    Raises
    ------
    RecordingError
        When something is in the way, is no recording of dcnbio's, or is being recorded now.

    Examples
    --------
    >>> check_target("no-such-run.zarr")
    'absent'
    """
    path = Path(path)
    if path.suffix.lower() in OTHER_KINDS:
        raise RecordingError(f"out (--out) is {path}; a recording is a .zarr store or a .nc file")
    if overwrite and resume:
        raise RecordingError("overwrite and resume exclude each other; give one of them")
    if resume and is_netcdf_name(path):
        raise RecordingError(f"{path} is netCDF, which cannot be resumed; record to a .zarr store")
    state = state_of(path)
    if state == "absent":
        return state
    if state == "foreign":
        raise RecordingError(
            f"{path} is there and is no recording of dcnbio's, so it is left alone; choose another name"
        )
    if resume:
        return state
    if not overwrite:
        way_out = "replace it with --overwrite"
        if state == "unfinished":
            way_out = "go on with --resume or replace it with --overwrite"
        raise RecordingError(f"{path} holds a recording ({state}); {way_out}, or choose another name")
    foreign = _foreign_entries(path) if path.is_dir() else []
    if foreign:
        raise RecordingError(
            f"{path} holds {foreign[0]}, which dcnbio did not write, so it is not overwritten; move that file away"
        )
    with unoccupied(path):
        return state


@contextlib.contextmanager
def aside(path: Path) -> Iterator[None]:
    """Move an old store aside while the new one takes its place, and remove it only when that has worked.

    Raises
    ------
    RecordingError
        When a writer is at work in the old one.
    """
    if not os.path.lexists(path):
        yield
        return
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.old")
    with unoccupied(path):
        os.rename(path, old)
        try:
            yield
        except BaseException:
            os.rename(old, path)
            raise
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old)
    else:
        old.unlink()
