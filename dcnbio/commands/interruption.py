"""SIGTERM as an exception, and the sentence with which an interrupted command ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["Terminated", "ends_with", "terminate"]


class Terminated(BaseException):
    """SIGTERM arrived; like KeyboardInterrupt, so that files are closed on the way out."""


def terminate(signum: int, frame: FrameType | None) -> None:
    """Leave by way of an exception."""
    raise Terminated


@contextlib.contextmanager
def ends_with(sentence: Callable[[], str]) -> Iterator[None]:
    """Say, where the body is interrupted, what has become of its work.

    Examples
    --------
    >>> try:
    ...     with ends_with(lambda: "2 of 3 images are kept"):
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt as stop:
    ...     print(stop)
    2 of 3 images are kept
    """
    try:
        yield
    except (KeyboardInterrupt, Terminated) as stop:
        raise type(stop)(sentence()) from None
