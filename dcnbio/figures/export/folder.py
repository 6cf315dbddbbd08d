"""Writes files into a folder, all or none of them, and replaces nothing unasked."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from dcnbio.errors import InputError

__all__ = ["check_folder", "write_files"]


def check_folder(folder: str | os.PathLike[str], names: Iterable[str], *, overwrite: bool) -> Path:
    """Refuse a folder that files cannot be written to, before anything is drawn.

    Raises
    ------
    InputError
        If it is no folder that can be written in, or a file is in the way.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_folder(folder, ["a.pdf"], overwrite=False) == Path(folder)
    True
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out (--out) is {folder}, which is a file; give a folder.")
    refuse_unwritable(folder)
    names = list(names)
    folders = [name for name in names if (folder / name).is_dir()]
    if folders:
        raise InputError(f"out (--out) is {folder}, in which {folders[0]} is a folder; choose another place.")
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(
            f"out (--out) is {folder}, which holds {there[0]} already, and {len(there)} of the files in all; choose "
            "another folder or pass overwrite (--overwrite)."
        )
    return folder


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder that cannot be made, or not be written in."""
    nearest = folder.absolute()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(
            f"out (--out) is {folder}, which cannot be written: {nearest} is no folder that you may write in; choose "
            "another place."
        )


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files beside their places, and move them there when all of them are whole.

    Raises
    ------
    InputError
        If the folder cannot be written to.
    """
    mark = uuid.uuid4().hex[:8]
    parts = {name: folder / f".{name}.{mark}.part" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            parts[name].write_bytes(content)
        for name, part in parts.items():
            os.replace(part, folder / name)
    except OSError as error:
        raise InputError(f"out (--out) is {folder}, which cannot be written ({error.strerror or error}).") from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
