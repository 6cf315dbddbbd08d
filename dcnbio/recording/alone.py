"""A lock between processes that ends with its process, so that a killed one never stands in the way of the next."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["alone"]


@contextlib.contextmanager
def alone(path: Path, *, warns: bool = True) -> Iterator[None]:
    """Wait until no other process is inside, and keep the others out meanwhile.

    Parameters
    ----------
    path : Path
        A file to hold the lock; it is created and left there.
    warns : bool
        Say where there are no locks. What one process does as well as several leaves that to the step that tells them.

    Warns
    -----
    RuntimeWarning
        Where the system has no such locks (Windows, some network disks): everybody is let in then. The steps inside
        can be repeated, and whoever finds them undone repeats them, so one process needs no lock.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, alone(Path(folder, "lock")):
    ...     Path(folder, "lock").is_file()
    True
    """
    with open(path, "ab") as file:
        missing = lock(file)
        if missing and warns:
            warnings.warn(
                f"{path.parent} is on a system without file locks ({missing}); let one process alone record there, or "
                "choose a local disk, since several could finish the recording at the same moment.",
                RuntimeWarning,
                stacklevel=3,
            )
        yield


def lock(file: BinaryIO) -> str:
    """Wait for the lock of a file; give why there is none, or nothing."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except ImportError:
        return "no fcntl"
    except OSError as error:
        return error.strerror or str(error)
    return ""
