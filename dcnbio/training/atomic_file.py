"""Files that are replaced as a whole: after a kill or on a full disk the one from before is still there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from dcnbio.errors import DcnbioError

__all__ = ["SaveError", "replace_file"]


class SaveError(DcnbioError):
    """A run's file that could not be written; one that was there before is kept."""

    exit_status = 3


def replace_file(path: Path, content: bytes) -> None:
    """Write beside, flush to the disk, then rename into place.

    Raises
    ------
    SaveError
        If the disk is full or the folder cannot be written; the file from before is untouched.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder, "a"), b"old")
    ...     replace_file(Path(folder, "a"), b"new")
    ...     Path(folder, "a").read_bytes(), os.listdir(folder)
    (b'new', ['a'])
    """
    part = ""
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        kept = "what was saved before is kept, so make room" if path.exists() else "make room"
        raise SaveError(
            f"{path} cannot be written ({error.strerror or error}); {kept} and go on with --resume, or with the same "
            "command if there is no run.json yet."
        ) from error
    finally:
        if part:
            with contextlib.suppress(OSError):
                os.unlink(part)
