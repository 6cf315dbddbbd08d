"""Files that are either wholly there, and on the disk, or not there at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

__all__ = ["durable_file", "sync_directories", "sync_directory", "sync_tree"]

# a disk answers all that wait at once: 148 files and folders take 0.07 s where one after the other takes 0.6 s
AT_ONCE = 8


def sync_directory(folder: Path) -> None:
    """Put the entries of a folder on the disk, where the system can."""
    # Windows opens no folders; there the rename itself is what can be had
    if os.name != "nt":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file(path: Path) -> None:
    """Put a file's bytes on the disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def sync_directories(folders: Iterable[Path]) -> None:
    """Put the entries of several folders on the disk."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(sync_directory, folders))  # a list, so that what was raised is raised here


def sync_tree(folder: Path) -> None:
    """Put every file and folder below a folder on the disk."""
    found = [(Path(parent), names) for parent, _, names in os.walk(folder)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(sync_file, [parent / name for parent, names in found for name in names]))
    sync_directories(parent for parent, _ in found)


@contextlib.contextmanager
def durable_file(path: Path, scratch: Path) -> Iterator[BinaryIO]:
    """Write a file beside its place, flush it to the disk and only then rename it into place.

    Parameters
    ----------
    path : Path
        Where it goes; a file that is there is replaced.
    scratch : Path
        Folder on the same disk for the part that is being written.

    Yields
    ------
    binary file
        To write into; when the body raises, no trace is left.
    """
    part = scratch / f"{uuid.uuid4().hex}.part"
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    sync_directory(path.parent)
