"""Round windows of stimuli: hard edges anti-aliased by exact area, soft edges as a raised cosine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas
from dcnbio.images.number_checks import number

__all__ = ["Window", "disc_coverage"]

LARGEST_DIAMETER = 10_000.0  # beyond, rounding in the areas is no longer negligible


@dataclass(frozen=True)
class Window:
    r"""A disc with a hard or soft edge: the share of a stimulus that is shown at every pixel.

    .. math:: W(r) = \tfrac12\left(1 - \sin\frac{\pi (r - d/2)}{e}\right), \quad |r - d/2| \le e/2,

    1 inside and 0 outside, averaged over the area of each pixel; e = 0 is a disc of diameter d with a sharp edge.

    Parameters
    ----------
    diameter : float
        d in pixels, 0 to 10,000; the full width at half height when the edge is soft. Infinite: the whole image.
    edge : float
        e, width of the raised cosine in pixels, 0 (hard) to d; half of it lies outside the diameter.
    centre_y, centre_x : float, optional
        Centre in pixels, the centre of the upper left pixel being (0, 0); the middle of the canvas if left out.

    Raises
    ------
    InputError
        When a number is not one of those allowed.

    Notes
    -----
    It misleads near the border: what lies outside the image is cut off without a word, so that beyond a diameter of 32
    on a 32 x 32 image only the corners still grow. A soft edge holds pi e^2 (1/4 - 2/pi^2) square pixels more than the
    hard one.

    Examples
    --------
    >>> round(float(Window(10.0).values(Canvas()).sum()), 6) == round(25 * math.pi, 6)
    True
    """

    diameter: float = math.inf
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        if self.diameter != math.inf:
            number("diameter", self.diameter, 0, LARGEST_DIAMETER)
        number("edge", self.edge, 0)
        if self.edge > self.diameter or (self.diameter == math.inf and self.edge):
            raise InputError(
                f"edge is {self.edge!r} with a diameter of {self.diameter!r}: a soft edge is at most as wide as the "
                "diameter, and a stimulus that fills the image has none, so give edge=0 or a smaller diameter"
            )
        for name, value in (("centre_y", self.centre_y), ("centre_x", self.centre_x)):
            if value is not None:
                number(name, value, -LARGEST_DIAMETER, LARGEST_DIAMETER)

    def centre(self, canvas: Canvas) -> tuple[float, float]:
        """Centre (y, x) in pixels on this canvas."""
        y, x = canvas.centre
        return y if self.centre_y is None else self.centre_y, x if self.centre_x is None else self.centre_x

    def values(self, canvas: Canvas) -> NDArray[np.float64]:
        """W at every pixel [y, x], from 0 to 1; read-only, because it is remembered."""
        return _values(self, canvas)


@lru_cache(maxsize=256)
def _values(window: Window, canvas: Canvas) -> NDArray[np.float64]:
    shape, radius = (canvas.height, canvas.width), window.diameter / 2
    if window.diameter == math.inf:
        values = np.ones(shape)
    elif window.edge == 0:
        values = disc_coverage(radius, window.centre(canvas), shape)
    else:
        # A raised cosine is a mixture of discs whose radii have a cosine density: each of them has its exact area.
        nodes, weights = np.polynomial.legendre.leggauss(24 + 4 * math.ceil(window.edge))
        density = weights * np.cos(np.pi * nodes / 2)
        values = np.zeros(shape)
        for offset, share in zip(nodes * window.edge / 2, density / density.sum(), strict=True):
            values += share * disc_coverage(radius + float(offset), window.centre(canvas), shape)
    values.setflags(write=False)
    return values


def disc_coverage(radius: float, centre: tuple[float, float], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return the area of a disc inside every pixel, in closed form.

    Parameters
    ----------
    radius : float
        In pixels, at least 0.
    centre : tuple of float
        (y, x) in pixels, the centre of the upper left pixel being (0, 0).
    shape : tuple of int
        Height and width of the image.

    Returns
    -------
    array [y, x]
        From 0 (outside) to 1 (inside); it adds up to pi radius^2 where the disc lies within the image.

    Examples
    --------
    >>> disc_coverage(1.0, (1.0, 1.0), (3, 3)).round(3)
    array([[0.079, 0.457, 0.079],
           [0.457, 1.   , 0.457],
           [0.079, 0.457, 0.079]])
    """
    if radius <= 0:
        return np.zeros(shape)
    y = np.arange(shape[0] + 1, dtype=np.float64)[:, None] - (0.5 + centre[0])
    x = np.arange(shape[1] + 1, dtype=np.float64)[None, :] - (0.5 + centre[1])
    corner = _area_up_to(x, y, radius)
    area: NDArray[np.float64] = corner[1:, 1:] - corner[:-1, 1:] - corner[1:, :-1] + corner[:-1, :-1]
    # Rounding leaves 1e-12 where there is nothing: pixels wholly inside or outside are exact, the grey stays grey.
    middle = (y[1:] + y[:-1]) / 2, (x[:, 1:] + x[:, :-1]) / 2
    farthest, nearest = (np.hypot(*(np.maximum(np.abs(axis) + side, 0) for axis in middle)) for side in (0.5, -0.5))
    return np.where(farthest <= radius, 1.0, np.where(nearest >= radius, 0.0, np.clip(area, 0, 1)))


def _area_up_to(x: NDArray[Any], y: NDArray[Any], radius: float) -> NDArray[np.float64]:
    """Area of the disc about 0 that lies left of x and above y, as an integral over columns of the disc."""

    def half_disc(u: NDArray[Any]) -> NDArray[np.float64]:
        u = np.clip(u, -radius, radius)
        result: NDArray[np.float64] = (u * np.sqrt((radius - u) * (radius + u)) + radius**2 * np.arcsin(u / radius)) / 2
        return result

    x, height = np.clip(x, -radius, radius), np.minimum(np.abs(y), radius)
    flat = np.sqrt((radius - height) * (radius + height))  # columns within it are cut at `height`, others at the circle
    left = half_disc(np.minimum(x, -flat)) + np.pi * radius**2 / 4
    middle = height * (np.clip(x, -flat, flat) + flat)
    right = half_disc(np.maximum(x, flat)) - half_disc(flat)
    upper = half_disc(x) + np.pi * radius**2 / 4
    area: NDArray[np.float64] = upper + np.sign(y) * (left + middle + right)
    return area
