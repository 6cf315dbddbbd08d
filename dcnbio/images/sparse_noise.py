"""Binary sparse noise: few bright and dark squares on grey, for reverse correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas, check_reach, paint
from dcnbio.images.number_checks import count, generator, number

__all__ = ["SparseNoise", "sparse_noise"]


@dataclass(frozen=True)
class SparseNoise:
    """How sparse noise is drawn: every cell of a grid is grey, bright or dark, independently of all others.

    Parameters
    ----------
    square : int
        Side of a cell in pixels; it divides the sides of the canvas.
    density : float
        Probability that a cell is not grey, more than 0 and at most 1; half of it bright, half dark.
    contrast : float
        c of the squares, L (1 + c) and L (1 - c): more than 0, at most 1 on grey of 0.5. The RMS contrast of the
        images is c sqrt(density).
    chromatic : bool
        Whether the three channels are drawn one by one; if not, squares are white and black.

    Raises
    ------
    InputError
        When a number is not one of those allowed.

    Examples
    --------
    >>> SparseNoise(square=4, density=0.05)
    SparseNoise(square=4, density=0.05, contrast=1.0, chromatic=False)
    """

    square: int = 2
    density: float = 0.05
    contrast: float = 1.0
    chromatic: bool = False

    def __post_init__(self) -> None:
        count("square", self.square, 1)
        number("contrast", self.contrast, 0)
        number("density", self.density, 0, 1)
        for name, value in (("density", self.density), ("contrast", self.contrast)):
            if value == 0:
                raise InputError(f"{name} is 0, and all cells would be grey: give more than 0 and at most 1")


def sparse_noise(
    n: int, rng: np.random.Generator, noise: SparseNoise | None = None, canvas: Canvas | None = None
) -> NDArray[np.float32]:
    """Draw images of sparse noise.

    Parameters
    ----------
    n : int
        How many images.
    rng : numpy.random.Generator
        Seeded; equal seeds give equal images.
    noise : SparseNoise, optional
        Size, density and contrast of the squares.
    canvas : Canvas, optional
        Size and luminance; 32 x 32 at 0.5 if left out.

    Returns
    -------
    array of float32 [n, 3, y, x]
        Values L, L (1 + c) or L (1 - c).

    Raises
    ------
    InputError
        When the squares do not fill the canvas or their contrast does not fit; the message says the largest that does.

    Notes
    -----
    The signs of cells (1 bright, -1 dark, 0 grey) are independent, with mean 0 and variance `density`: the mean over
    images of response times sign, divided by `density`, is the linear kernel, one value per cell. It misleads at low
    density: an image of few squares has a small standard deviation and group norm amplifies it, so that a unit's
    response depends on how many squares there happen to be; and an image without any square is a blank.

    References
    ----------
    Jones & Palmer, J Neurophysiol 1987, 58, 1187, https://doi.org/10.1152/jn.1987.58.6.1187.

    Examples
    --------
    >>> images = sparse_noise(500, np.random.default_rng(0))
    >>> np.unique(images), round(float((images != 0.5).mean()), 2)
    (array([0. , 0.5, 1. ], dtype=float32), 0.05)
    """
    noise, canvas = noise or SparseNoise(), canvas or Canvas()
    count("n", n, 1)
    generator(rng)
    if canvas.height % noise.square or canvas.width % noise.square:
        raise InputError(
            f"square is {noise.square} on a canvas of {canvas.height} x {canvas.width}: give a side that divides both"
        )
    check_reach((-noise.contrast, noise.contrast), canvas, "sparse noise")  # also when no square happens to be bright
    cells = (n, 3 if noise.chromatic else 1, canvas.height // noise.square, canvas.width // noise.square)
    drawn = rng.random(cells)
    sign = np.where(drawn < noise.density / 2, 1.0, np.where(drawn < noise.density, -1.0, 0.0))
    pattern = sign.repeat(noise.square, axis=2).repeat(noise.square, axis=3)
    grey = paint(noise.contrast * pattern, canvas, "sparse noise")
    return np.repeat(grey, 3 // cells[1], axis=1)
