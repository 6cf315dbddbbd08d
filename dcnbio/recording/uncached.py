"""A large file that is written past the system's cache of files, which copies every byte and takes time for it."""

from __future__ import annotations

import errno
import os
import sys
from types import TracebackType
from typing import Any, Self

import numpy as np

__all__ = ["UncachedFile"]

# Measured on batches of 21 times of dcn-ode's three blocks: 2.4 to 7 ms of processor time an image through the cache,
# most of it for finding memory, 1 ms past it.
BLOCK = 4096  # bytes to whose multiples disks want such writes aligned
BUFFER = 8 << 20


class UncachedFile:
    """Gather what is written in an aligned buffer, and give it to the disk in whole blocks.

    Where the system or the disk knows no such writes, these are ordinary ones.

    Parameters
    ----------
    descriptor : int
        Of a new file, open for writing; it stays open.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     with UncachedFile(file.fileno()) as uncached:
    ...         uncached.write(b"ten bytes!")
    ...     file.seek(0), file.read()
    (0, b'ten bytes!')
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        room = np.empty(BUFFER + BLOCK, dtype=np.uint8)
        start = -room.ctypes.data % BLOCK
        self._buffer = room[start : start + BUFFER].data
        self._held = 0
        self._past_cache = bypass_cache(descriptor, True)

    def __enter__(self) -> Self:
        """Return the file itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left, unless something went wrong."""
        if kind is None:
            self._through_cache()
            self._give()

    def write(self, data: bytes | memoryview[Any]) -> None:
        """Write bytes after those written before.

        Raises
        ------
        OSError
            When the disk refuses.
        """
        left = memoryview(data).cast("B")
        while left:
            count = min(len(left), BUFFER - self._held)
            self._buffer[self._held : self._held + count] = left[:count]
            self._held += count
            left = left[count:]
            if self._held == BUFFER:
                self._give()

    def _give(self) -> None:
        left = self._buffer[: self._held]
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except OSError as error:
                # a disk that wants larger blocks, or the rest of a write that was cut short
                if error.errno != errno.EINVAL or not self._past_cache:
                    raise
                self._through_cache()
        self._held = 0

    def _through_cache(self) -> None:
        if self._past_cache:
            bypass_cache(self._descriptor, False)
            self._past_cache = False


def bypass_cache(descriptor: int, wanted: bool) -> bool:
    """Say how a file is written from now on; whether that was possible."""
    if sys.platform != "linux":
        return False
    import fcntl

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_DIRECT if wanted else flags & ~os.O_DIRECT)
    except OSError:  # a file system without such writes
        return False
    return True
