"""What every kind of source offers: names and labels at once, pixels when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.images.pixels import BadImage, Pixels
from dcnbio.stored_text import stored_text

__all__ = ["Found", "Source", "from_array"]

Found = Iterator[tuple[int, Pixels | BadImage]]


@dataclass(frozen=True, eq=False)
class Source:
    """Images that have been listed and not yet decoded.

    Attributes
    ----------
    description : str
        What it is, for provenance.
    files : sequence of str [n]
        Name of every image.
    labels : array of int64 [n]
        Position in `class_names`, -1 where unknown.
    class_names : tuple of str
        The name of every label.
    pixels : callable
        `pixels(positions, resize)` yields (i, image) for every i of range(len(positions)), in any order.
    notices : tuple of str
        What a reader of the results has to know about the source.
    """

    description: str
    files: Sequence[str]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    pixels: Callable[[NDArray[np.int64], bool], Found]
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Give names that are no UTF-8 as text that can be stored and printed."""
        for name in ("files", "class_names", "notices"):
            object.__setattr__(self, name, tuple(stored_text(str(text)) for text in getattr(self, name)))
        object.__setattr__(self, "description", stored_text(self.description))


def from_array(images: NDArray[np.uint8]) -> Callable[[NDArray[np.int64], bool], Found]:
    """Return the `pixels` of a source whose images [n, 3, 32, 32] are already in memory."""

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i, position in enumerate(positions):
            yield i, Pixels(images[position])

    return pixels
