"""Several processes that record into one store: which batches are whose, and waiting for the others."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dcnbio.errors import InputError
from dcnbio.recording import RecordingLayout, state_of

__all__ = ["Shard", "shard_of", "wait_for_others"]

PAUSE = 0.2  # seconds between two looks at the store


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of a recording's batches.

    A batch is one file of the store and belongs to one process whole, so no two processes ever write the same file.

    Attributes
    ----------
    number : int
        Which, from 1.
    of : int
        How many there are.
    launched : bool
        Whether one launcher (torchrun) started all of them, so that the first may wait for the others and speak for
        them.

    Examples
    --------
    >>> sorted(Shard(2, 3).others(7))
    [0, 2, 3, 5, 6]
    """

    number: int
    of: int
    launched: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise InputError(f"shard (--shard) is {self.number}/{self.of}; give i/n with i from 1 to n, such as 1/2.")

    @property
    def speaks(self) -> bool:
        """Whether this process talks to the person: of several that were launched together, the first."""
        return not self.launched or self.number == 1

    def others(self, batches: int) -> frozenset[int]:
        """Give the indices of the batches that are not this shard's."""
        return frozenset(range(batches)) - frozenset(range(self.number - 1, batches, self.of))

    def check(self, layout: RecordingLayout) -> None:
        """Refuse more processes than there are batches."""
        if self.of > layout.batches:
            raise InputError(
                f"there are {self.of} shards and {layout.batches} batches of {layout.batch_size} images; use a smaller "
                f"batch_size (--batch-size), or {layout.batches} processes at most."
            )


def shard_of(text: str | None, environment: Mapping[str, str] = os.environ) -> Shard | None:
    """Read ``i/n``, or else what torchrun says in RANK and WORLD_SIZE; None for a process on its own.

    Raises
    ------
    InputError
        If it is no i/n with i from 1 to n.

    Examples
    --------
    >>> shard_of("2/3", {}), shard_of(None, {"RANK": "0", "WORLD_SIZE": "2"})
    (Shard(number=2, of=3, launched=False), Shard(number=1, of=2, launched=True))
    """
    if text is not None:
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip())
        if found is None:
            raise InputError(f"shard (--shard) is {text!r}; give i/n with i from 1 to n, such as 1/2.")
        return Shard(int(found[1]), int(found[2]))
    rank, size = environment.get("RANK", ""), environment.get("WORLD_SIZE", "")
    if not (rank.isdecimal() and size.isdecimal()) or int(size) < 2:
        return None
    return Shard(int(rank) + 1, int(size), launched=True)


def wait_for_others(path: Path, look: Callable[[], None]) -> None:
    """Wait until the store is complete; whoever is last makes it so. A launcher ends us if another process fails.

    Parameters
    ----------
    path : Path
        The store.
    look : callable
        Called at each look, for a progress bar.
    """
    while state_of(path) != "complete":
        look()
        time.sleep(PAUSE)
