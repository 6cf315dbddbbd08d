"""A file for another program: refused where one is there, written beside its place and then renamed."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from dcnbio.errors import RecordingError

__all__ = ["new_file"]


@contextlib.contextmanager
def new_file(path: Path, overwrite: bool) -> Iterator[Path]:
    """Give the name of a part file, which becomes `path` when the body has worked, and is gone when it has not.

    Raises
    ------
    RecordingError
        If a file is there and may not be replaced, or the disk refuses.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with new_file(Path(folder, "a.csv"), overwrite=False) as part:
    ...         _ = part.write_text("1")
    ...     sorted(os.listdir(folder))
    ['a.csv']
    """
    if path.is_dir():
        raise RecordingError(f"{path} is a folder; give the name of a file")
    if os.path.lexists(path) and not overwrite:
        raise RecordingError(f"{path} exists already; choose another name or replace it with --overwrite")
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        reason = error.strerror or error
        raise RecordingError(f"{path} cannot be written: {reason}; make room or choose another place") from error
    finally:
        part.unlink(missing_ok=True)
