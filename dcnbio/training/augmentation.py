"""Random translations and mirror images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Moves", "augmented", "draw_moves"]

Moves = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]


def draw_moves(n: int, translate: int, flip: bool, generator: np.random.Generator, still: float = 0.0) -> Moves:
    """Draw for each of n images a translation along y and x, in pixels, and whether it is mirrored.

    A share `still` of them is left where it is. Translations by up to 4 pixels leave but one image in 81 without a
    black border, and a network that hardly ever sees one without is worse on images as they are.

    Examples
    --------
    >>> down, right, mirrored = draw_moves(5, 4, True, np.random.default_rng(0))
    >>> bool((abs(down) <= 4).all()), mirrored.dtype
    (True, dtype('bool'))
    """
    down, right = generator.integers(-translate, translate + 1, (2, n))
    mirrored = generator.random(n) < 0.5 if flip else np.zeros(n, dtype=bool)
    # drawn last, so that without it the other draws are what they were
    moving = generator.random(n) >= still if still else np.ones(n, dtype=bool)
    return down * moving, right * moving, mirrored


def augmented(images: NDArray[np.uint8], moves: Moves, border: str = "black") -> NDArray[np.uint8]:
    """Move and mirror images.

    Parameters
    ----------
    images : uint8 array, shape (n, 3, y, x)
    moves : tuple of arrays, shape (n,)
        From `draw_moves`.
    border : str
        What comes in from outside: "black", or "mirror", the image reflected at its outermost pixels.

    Examples
    --------
    >>> image = np.arange(9, dtype=np.uint8).reshape(1, 1, 3, 3)
    >>> augmented(image, (np.array([1]), np.array([0]), np.array([True])))[0, 0].tolist()
    [[0, 0, 0], [2, 1, 0], [5, 4, 3]]
    >>> augmented(image, (np.array([1]), np.array([0]), np.array([False])), "mirror")[0, 0].tolist()
    [[3, 4, 5], [0, 1, 2], [3, 4, 5]]
    """
    down, right, mirrored = moves
    n, _, height, width = images.shape
    margin = int(max(np.abs(down).max(), np.abs(right).max())) if n else 0
    around = ((0, 0), (0, 0), (margin, margin), (margin, margin))
    padded = np.pad(images, around, "reflect") if border == "mirror" else np.pad(images, around)
    x = np.arange(width)
    rows = margin - down[:, None] + np.arange(height)
    columns = margin - right[:, None] + np.where(mirrored[:, None], x[::-1], x)
    # advanced indices around the channel axis put it last
    moved = padded[np.arange(n)[:, None, None], :, rows[:, :, None], columns[:, None, :]]
    return np.ascontiguousarray(moved.transpose(0, 3, 1, 2))
