"""A lock between processes that ends with its process; its file goes when the lock is let go of."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

__all__ = ["FileLock", "LockedError"]


class LockedError(Exception):
    """Another process holds the lock."""


class FileLock:
    """A lock by way of a file that is there only while the lock is held, or after a kill, when it locks nothing.

    Parameters
    ----------
    path : Path
        The file; its folder has to be there by the time that the lock is taken.
    wait : bool
        Whether to wait for another process that holds it, where it would be refused.

    Warns
    -----
    RuntimeWarning
        Where the disk has no such locks (some network disks). Nothing is locked there, and in silence where the
        system has none (Windows).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FileLock(Path(folder, "lock")):
    ...         held = os.listdir(folder)
    ...     held, os.listdir(folder)
    (['lock'], [])
    """

    def __init__(self, path: Path, wait: bool = False) -> None:
        self.path, self.wait = path, wait
        self.file: BinaryIO | None = None

    def take(self) -> None:
        """Take the lock; nothing more where it is held already.

        Raises
        ------
        LockedError
            If another process holds it and is not waited for.
        OSError
            If the file cannot be written.
        """
        try:
            import fcntl  # noqa: F401 - whether there is one
        except ImportError:
            return
        while self.file is None:
            file = open(self.path, "ab")  # noqa: SIM115 - held until it is let go of
            try:
                locked(file, self.wait)
                # whoever held it before may have removed the file between the two lines above
                if is_still_there(file, self.path):
                    self.file = file
            finally:
                if self.file is None:
                    file.close()

    def let_go(self) -> None:
        """Remove the file and let go of the lock."""
        if self.file is not None:
            # while it is still held, so that no other process' file is removed
            self.path.unlink(missing_ok=True)
            self.file.close()
            self.file = None

    def __enter__(self) -> FileLock:
        """Take the lock."""
        self.take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of it."""
        self.let_go()


def is_still_there(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one that a path names now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def locked(file: BinaryIO, wait: bool) -> None:
    """Lock an open file, or warn that the disk has no locks."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise LockedError from None
    except OSError as error:
        warnings.warn(
            f"{Path(file.name).parent} is on a disk without file locks ({error.strerror or error}); let one process "
            "alone write there.",
            RuntimeWarning,
            stacklevel=4,
        )
