"""Spots, annuli and the blank: stimuli of one luminance on grey."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas
from dcnbio.images.number_checks import number
from dcnbio.images.windows import Window

__all__ = ["Annulus", "Blank", "Spot"]


@dataclass(frozen=True)
class Spot:
    """A disc of luminance L (1 + c) on grey of luminance L.

    Parameters
    ----------
    diameter : float
        In pixels, 0 to 10,000, or infinite.
    contrast : float
        c, Weber's contrast (L_spot - L) / L: from -1 (black) to 1 / L - 1 (white); negative is darker than the grey.
    edge : float
        Width of the raised cosine at the edge, in pixels; 0 is a hard edge, anti-aliased by exact area.
    centre_y, centre_x : float, optional
        Centre in pixels; the middle of the canvas if left out.

    Raises
    ------
    InputError
        When a number is not one of those allowed.

    Notes
    -----
    It misleads when Weber's contrast is set beside Michelson's: a spot of c = 0.5 has a Michelson contrast of c / (2 +
    c) = 0.2. A spot changes the mean of the image, which a grating does not, and group norm's mean and standard
    deviation with it: the whole map responds, not the units under the spot alone.

    Examples
    --------
    >>> from dcnbio.images import render
    >>> image = render(Spot(diameter=8, contrast=-1))[0]
    >>> float(image[16, 16]), float(image[0, 0])
    (0.0, 0.5)
    """

    diameter: float = 8.0
    contrast: float = 0.5
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        number("contrast", self.contrast, -1)
        _ = self.window

    @property
    def window(self) -> Window:
        """Where the spot is."""
        return Window(self.diameter, self.edge, self.centre_y, self.centre_x)

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast."""
        return min(self.contrast, 0.0), max(self.contrast, 0.0)

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]."""
        return self.contrast * self.window.values(canvas)


@dataclass(frozen=True)
class Annulus:
    """A ring of luminance L (1 + c): the spot of its outer diameter less the spot of its inner diameter.

    Parameters
    ----------
    inner_diameter, diameter : float
        Of the hole and of the ring, in pixels; the first is the smaller.
    contrast : float
        c, Weber's contrast (L_ring - L) / L: from -1 (black) to 1 / L - 1 (white).
    edge : float
        Width of the raised cosine at both edges, in pixels; at most the inner diameter, unless that is 0.
    centre_y, centre_x : float, optional
        Centre in pixels; the middle of the canvas if left out.

    Raises
    ------
    InputError
        When a number is not one of those allowed, or the hole is larger than the ring.

    Notes
    -----
    It misleads as a `Spot` does. A ring narrower than a pixel or than `edge` never reaches its contrast.

    Examples
    --------
    >>> canvas = Canvas()
    >>> ring = Annulus(inner_diameter=6, diameter=12, contrast=0.5).pattern(canvas)
    >>> bool(np.all(ring == Spot(12, 0.5).pattern(canvas) - Spot(6, 0.5).pattern(canvas)))
    True
    """

    inner_diameter: float = 8.0
    diameter: float = 16.0
    contrast: float = 0.5
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        number("contrast", self.contrast, -1)
        number("inner_diameter", self.inner_diameter, 0)
        if not self.inner_diameter <= self.diameter:
            raise InputError(
                f"inner_diameter is {self.inner_diameter!r} in a ring of diameter {self.diameter!r}: make it smaller"
            )
        _ = self._spots

    @property
    def _spots(self) -> tuple[Spot, Spot]:
        inner_edge = self.edge if self.inner_diameter > 0 else 0.0  # no hole, and no border: no edge there
        outer_edge = self.edge if self.diameter < math.inf else 0.0
        whole = Spot(self.diameter, self.contrast, outer_edge, self.centre_y, self.centre_x)
        return whole, Spot(self.inner_diameter, self.contrast, inner_edge, self.centre_y, self.centre_x)

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast."""
        return self._spots[0].reach

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]."""
        whole, hole = self._spots
        return whole.pattern(canvas) - hole.pattern(canvas)


@dataclass(frozen=True)
class Blank:
    """The grey alone: what every response is measured against.

    Examples
    --------
    >>> from dcnbio.images import render
    >>> float(render(Blank()).min()), float(render(Blank()).max())
    (0.5, 0.5)
    """

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast, both 0."""
        return 0.0, 0.0

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]: 0."""
        return np.zeros((canvas.height, canvas.width))
