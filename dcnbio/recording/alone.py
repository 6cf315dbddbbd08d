"""A lock between processes that ends with its process, so that a killed one never stands in the way of the next."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["alone"]


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process is inside, and keep the others out meanwhile.

    Parameters
    ----------
    path : Path
        A file to hold the lock; it is created and left there.

    Notes
    -----
    Where the system has no such locks (Windows, some network disks) everybody is let in; the steps inside can be
    repeated, and whoever finds them undone repeats them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, alone(Path(folder, "lock")):
    ...     Path(folder, "lock").is_file()
    True
    """
    with open(path, "ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield
