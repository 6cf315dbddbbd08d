"""A mark in an unfinished store that lasts as long as its writer, so that nobody replaces what is being recorded."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

from dcnbio.errors import RecordingError

__all__ = ["Occupant", "unoccupied"]

MARK = Path(".journal", "writers")


class Occupant:
    """A process's shared lock on a store that it fills; it ends with `leave`, with the object or with the process.

    Parameters
    ----------
    store : Path
        An unfinished store. It may be renamed while it is occupied.

    Notes
    -----
    Where the system has no such locks (Windows, some network disks) there is no mark; the run's name in the journal
    then still tells a writer that its store was replaced.
    """

    def __init__(self, store: Path) -> None:
        descriptor = _shared(store / MARK)
        self._leave = None if descriptor is None else weakref.finalize(self, os.close, descriptor)

    def leave(self) -> None:
        """Take the mark away."""
        if self._leave is not None:
            self._leave()


def _shared(path: Path) -> int | None:
    """Open a file and share its lock; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        try:
            # for reading too: network disks share a lock for readers alone
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError:  # writing will say so, if it comes to that
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:  # replaced, or completed, while we waited; opening it again says which
            pass
        except OSError:
            os.close(descriptor)
            return None
        os.close(descriptor)


@contextlib.contextmanager
def unoccupied(store: Path) -> Iterator[None]:
    """Keep writers out of a store that is to be replaced.

    Parameters
    ----------
    store : Path
        Whatever is there; only an unfinished store can be occupied.

    Raises
    ------
    RecordingError
        When a writer is at work in it.

    Examples
    --------
    >>> with unoccupied(Path("no-such-run.zarr")):
    ...     pass
    """
    try:
        import fcntl

        descriptor = os.open(store / MARK, os.O_RDWR)
    except (ImportError, FileNotFoundError, NotADirectoryError):
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise RecordingError(
            f"{store} is being recorded by another process, or by a writer of this one, so it is not replaced; wait "
            "until that has ended, or choose another name"
        ) from error
    except OSError:  # no locks here
        pass
    try:
        yield
    finally:
        os.close(descriptor)
