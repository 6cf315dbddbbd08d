"""Which part of a block's maps is recorded: some channels, a window of rows and columns."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from dcnbio.errors import InputError

__all__ = ["Channels", "Part", "Window", "for_block", "part_of"]

Window = str | Sequence[slice] | Mapping[int, "str | Sequence[slice]"]
Channels = int | Sequence[int] | Mapping[int, int | Sequence[int]]
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Part:
    """A part of a block's maps.

    Attributes
    ----------
    channels : tuple of int
        Indices in the block, in the order they are stored.
    rows, columns : slice
        With a start and a stop, in pixels of the map.
    size : tuple of int
        (channel, y, x) of the whole maps.
    """

    channels: tuple[int, ...]
    rows: slice
    columns: slice
    size: tuple[int, int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Give (channel, y, x) of the part."""
        return len(self.channels), self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    @property
    def origin(self) -> tuple[int, int]:
        """Give row and column of the first position."""
        return self.rows.start, self.columns.start

    def of(self, maps: Tensor) -> Tensor:
        """Take the part of maps (..., channel, y, x)."""
        window = maps[..., self.rows, self.columns]
        every = self.channels == tuple(range(self.size[0]))
        return window if every else window[..., list(self.channels), :, :]


def for_block(given: Kind | Mapping[int, Kind] | None, block: int) -> Kind | None:
    """Give what was asked for of a block, where that may be said for all or block by block."""
    return given.get(block) if isinstance(given, Mapping) else given


def edge(text: str, window: str) -> int | None:
    """Read one edge of a window."""
    if text.strip() == "":
        return None
    if not text.strip().isdecimal():
        raise InputError(f"window is {window!r}; give rows and columns as first:last+1, such as 12:20,12:20.")
    return int(text)


def slices(window: str | Sequence[slice]) -> tuple[slice, slice]:
    """Read rows and columns.

    Examples
    --------
    >>> slices("12:20,:8")
    (slice(12, 20, None), slice(None, 8, None))
    """
    if isinstance(window, str):
        pieces = [part.split(":") for part in window.split(",")]
        if len(pieces) != 2 or any(len(piece) != 2 for piece in pieces):
            raise InputError(f"window is {window!r}; give rows and columns as first:last+1, such as 12:20,12:20.")
        rows, columns = (slice(*(edge(text, window) for text in piece)) for piece in pieces)
        return rows, columns
    found = [one for one in window if isinstance(one, slice)] if isinstance(window, Sequence) else []
    if len(found) != 2 or len(window) != 2:
        raise InputError(f"window is {window!r}; give two slices, of rows and of columns, or text such as 12:20,12:20.")
    return found[0], found[1]


def bounded(given: slice, length: int, what: str) -> slice:
    """Refuse rows or columns that a map does not have."""
    start, stop = (0 if given.start is None else given.start), (length if given.stop is None else given.stop)
    if given.step not in (None, 1):
        raise InputError(
            f"window of {what} has step {given.step}; a window has every row and column between its edges."
        )
    whole = isinstance(start, int | np.integer) and isinstance(stop, int | np.integer)
    if not (whole and 0 <= start < stop <= length):
        raise InputError(
            f"window takes {what} {start}:{stop}, of {length}; give whole numbers 0 <= first < last+1 <= {length}, or "
            "one window for each block."
        )
    return slice(operator.index(start), operator.index(stop))


def channel_indices(given: int | Sequence[int], block: int, count: int) -> tuple[int, ...]:
    """Refuse channels that a block does not have."""
    try:
        each = [given] if isinstance(given, int | np.integer) else given
        found = tuple(operator.index(channel) for channel in each)
    except TypeError:
        raise InputError(f"channels has {given!r}; give whole numbers, such as 0 or [0, 5].") from None
    outside = [channel for channel in found if not 0 <= channel < count]
    if outside or not found or len(set(found)) < len(found):
        what = f"has {outside[0]}" if outside else f"is {list(found)}"
        raise InputError(
            f"channels {what}; block{block} has channels 0 to {count - 1}: give one or more, each once, or a list for "
            "each block."
        )
    return found


def part_of(block: int, size: tuple[int, int, int], channels: Channels | None, window: Window | None) -> Part:
    """Find the part of a block's maps that is asked for; all of them where nothing is.

    Parameters
    ----------
    block : int
    size : tuple of int
        (channel, y, x) of the block's maps.
    channels : sequence of int, or mapping of them by block, optional
    window : str, pair of slices, or mapping of them by block, optional
        Rows and columns of the map.

    Returns
    -------
    Part

    Raises
    ------
    InputError
        If the block has no such channels, rows or columns.

    Examples
    --------
    >>> part_of(1, (32, 30, 30), [3, 5], "12:20,:8").shape
    (2, 8, 8)
    """
    given: Any = for_block(channels, block)
    own: Any = for_block(window, block)
    rows, columns = (slice(None), slice(None)) if own is None else slices(own)
    return Part(
        channels=tuple(range(size[0])) if given is None else channel_indices(given, block, size[0]),
        rows=bounded(rows, size[1], f"rows of block{block}"),
        columns=bounded(columns, size[2], f"columns of block{block}"),
        size=size,
    )


def check_named_blocks(name: str, given: Any, blocks: Sequence[int]) -> None:
    """Refuse what is said of a block that is not recorded."""
    extra = sorted(set(given) - set(blocks)) if isinstance(given, Mapping) else []
    if extra:
        raise InputError(
            f"{name} is given for block {extra[0]}, which is not recorded; recorded are {', '.join(map(str, blocks))}."
        )
