"""Sinusoidal gratings, in a round window or over the whole image."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.images.canvas import Canvas
from dcnbio.images.frequencies import check_frequency
from dcnbio.images.number_checks import number
from dcnbio.images.windows import Window

__all__ = ["Carrier", "Grating", "check_carrier"]


@dataclass(frozen=True)
class Carrier:
    r"""The sinusoid of a grating, without a window.

    .. math:: p(x, y) = c \cos\left(2\pi f (x \sin\theta + y \cos\theta) + \varphi\right)

    with x rightwards and y downwards from the centre. Its bars lie at theta counter-clockwise from horizontal.

    Parameters
    ----------
    orientation : float
        theta in degrees: 0 horizontal bars, 90 vertical bars, 45 bars from lower left to upper right.
    spatial_frequency : float
        f in cycles/pixel, more than 0 and at most 0.5.
    phase : float
        phi in degrees at the centre: 0 puts a bright bar there, 180 a dark one.
    contrast : float
        c, 0 or more: Michelson's contrast (Lmax - Lmin) / (Lmax + Lmin) of the sinusoid.
    """

    orientation: float
    spatial_frequency: float
    phase: float
    contrast: float

    def values(self, canvas: Canvas, centre: tuple[float, float]) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x], sampled at its middle, with the phase given at `centre` (y, x)."""
        y = np.arange(canvas.height)[:, None] - centre[0]
        x = np.arange(canvas.width)[None, :] - centre[1]
        theta = math.radians(self.orientation)
        across = x * math.sin(theta) + y * math.cos(theta)
        wave: NDArray[np.float64] = np.cos(2 * np.pi * self.spatial_frequency * across + math.radians(self.phase))
        return self.contrast * wave


@dataclass(frozen=True)
class Grating:
    r"""A sinusoidal grating of Michelson contrast c in a round window W on grey of luminance L.

    .. math:: L(x, y) = L\left[1 + c\, W(r) \cos\left(2\pi f (x \sin\theta + y \cos\theta) + \varphi\right)\right]

    with x rightwards and y downwards from the window's centre.

    Parameters
    ----------
    orientation : float
        theta in degrees, of the bars, counter-clockwise from horizontal: 0 horizontal, 90 vertical, 45 from lower left
        to upper right. theta + 180 is the same orientation with the phase reversed.
    spatial_frequency : float
        f in cycles/pixel, more than 0 and at most 0.5 (Nyquist).
    phase : float
        phi in degrees at the centre: 0 puts a bright bar there, 180 a dark one.
    contrast : float
        c, from 0: Michelson's (Lmax - Lmin) / (Lmax + Lmin). The RMS contrast of the full field is c / sqrt(2).
    diameter, edge : float
        Full width at half height of the window and width of its raised cosine, in pixels; see `Window`.
    centre_y, centre_x : float, optional
        Centre of the window in pixels; the middle of the canvas (15.5 of 32) if left out.

    Raises
    ------
    InputError
        When a frequency is above Nyquist or another number is not one of those allowed.

    Notes
    -----
    The sinusoid is sampled in the middle of the pixels: it is band-limited, so a full field has no alias and its
    contrast is not lowered. A hard window is not band-limited; its pixels on the edge are weighted by their area
    inside.

    When it misleads. Towards 0.5 cycles/pixel, samples miss the crests: a grating of 0.5 along an axis, centred
    between pixels, is plain grey at phase 0 and has full contrast at phase 90. In a small window the mean changes with
    phase (a bright bar fills a spot of its width). Below 1/30 cycles/pixel a 32 x 32 image holds less than a cycle,
    and the network is shown a ramp; `battery` flags both. A window of diameter d blurs frequency by about 1/d and
    orientation by about 1/(f d) radians. Group norm divides by the standard deviation of the whole map, so that a
    unit's response falls when the grating grows, in an untrained network as well.

    Examples
    --------
    >>> from dcnbio.images import render
    >>> bars = render(Grating(orientation=90, spatial_frequency=0.25, phase=45, contrast=0.8))[0]
    >>> bars[:2, :4].round(2)
    array([[0.5, 0.1, 0.5, 0.9],
           [0.5, 0.1, 0.5, 0.9]], dtype=float32)
    """

    orientation: float = 0.0
    spatial_frequency: float = 0.125
    phase: float = 0.0
    contrast: float = 0.5
    diameter: float = math.inf
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        check_carrier("", self.carrier)
        _ = self.window

    @property
    def window(self) -> Window:
        """Where the grating is shown."""
        return Window(self.diameter, self.edge, self.centre_y, self.centre_x)

    @property
    def carrier(self) -> Carrier:
        """The sinusoid behind the window."""
        return Carrier(self.orientation, self.spatial_frequency, self.phase, self.contrast)

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast, at any phase."""
        return -self.contrast, self.contrast

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]."""
        return self.window.values(canvas) * self.carrier.values(canvas, self.window.centre(canvas))


def check_carrier(prefix: str, carrier: Carrier) -> None:
    """Check the four numbers of a sinusoid, named with a prefix such as "mask_" in messages."""
    number(f"{prefix}orientation", carrier.orientation)
    check_frequency(f"{prefix}spatial_frequency", carrier.spatial_frequency)
    number(f"{prefix}phase", carrier.phase)
    number(f"{prefix}contrast", carrier.contrast, 0)
