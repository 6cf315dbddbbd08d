"""Does one kind of work on a thread of its own, one piece behind: a batch is written while the next is solved."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["one_behind"]

Piece = TypeVar("Piece")


@contextlib.contextmanager
def one_behind(work: Callable[[Piece], None]) -> Iterator[Callable[[Piece], None]]:
    """Give a function that hands a piece over and returns; it waits while the piece before is still worked on.

    So two pieces at most are alive. On the way out the last piece is waited for, also after an interruption: what was
    handed over is finished.

    Parameters
    ----------
    work : callable
        What is done with a piece. What it raises is raised at the next piece, or at the end.

    Examples
    --------
    >>> done = []
    >>> with one_behind(done.append) as hand_over:
    ...     for piece in range(3):
    ...         hand_over(piece)
    >>> done
    [0, 1, 2]
    """
    pending: list[Future[None]] = []

    def finish() -> None:
        while pending:
            pending.pop().result()

    def hand_over(piece: Piece) -> None:
        finish()
        pending.append(pool.submit(work, piece))

    with ThreadPoolExecutor(1, thread_name_prefix="one-behind") as pool:
        yield hand_over
        finish()
