"""Holds a run's folder for one process, from before its files are read until the run ends."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from dcnbio.errors import InputError
from dcnbio.training.file_lock import FileLock, LockedError

__all__ = ["RunLock"]


class RunLock:
    """The lock of a run's folder.

    Parameters
    ----------
    folder : Path
        It may not be there yet; then the lock is taken once it is made (`take`).
    writes : bool
        Whether this process writes: of several that train together, one does, and it holds the lock for all.

    Raises
    ------
    InputError
        On entering or taking it, if another process holds it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, RunLock(Path(folder), True):
    ...     with RunLock(Path(folder), True):
    ...         pass
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: another process trains in /...; wait until it ends, or choose another folder (--out).
    """

    def __init__(self, folder: Path, writes: bool) -> None:
        self.folder, self.writes = folder, writes
        self.lock = FileLock(folder / ".lock")

    def take(self) -> None:
        """Take the lock, if there is a folder and this process writes."""
        if not (self.writes and self.folder.is_dir()):
            return
        try:
            self.lock.take()
        except LockedError:
            raise InputError(
                f"another process trains in {self.folder}; wait until it ends, or choose another folder (--out)."
            ) from None
        except OSError as error:
            raise InputError(f"out is {self.folder}, which cannot be written ({error.strerror}).") from error

    def __enter__(self) -> RunLock:
        """Take the lock of a folder that is there."""
        self.take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of it."""
        self.lock.let_go()
