"""A grating with a surround of its own orientation, frequency and contrast, the test of surround suppression."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas
from dcnbio.images.gratings import Carrier, check_carrier
from dcnbio.images.number_checks import number
from dcnbio.images.windows import Window

__all__ = ["CentreSurround"]


@dataclass(frozen=True)
class CentreSurround:
    """A grating in a disc and another in a ring around it: L [1 + W p + (W_outer - W_inner) p_surround].

    Parameters
    ----------
    orientation, spatial_frequency, phase, contrast : float
        Of the central grating, as in `Grating`.
    surround_orientation, surround_spatial_frequency, surround_phase, surround_contrast : float
        Of the surround; its phase is counted from the common centre, so that equal numbers make one grating.
    diameter : float
        Of the central disc, in pixels.
    gap : float
        Width of the grey ring between centre and surround, in pixels, from 0.
    surround_diameter : float
        Outer diameter of the surround in pixels, at least `diameter` + 2 `gap`; infinite for the whole image.
    edge : float
        Width of the raised cosine at every edge, in pixels; see `Window`.
    centre_y, centre_x : float, optional
        Common centre in pixels; the middle of the canvas if left out.

    Raises
    ------
    InputError
        When a number is not one of those allowed, or the surround has no room.

    Notes
    -----
    It misleads on 32 x 32 pixels, which cut most surrounds: the ring beyond a diameter of 32 is corners. Group norm is
    a surround over the whole image that knows no orientation: compare orthogonal with parallel surrounds, and both
    with the norm's statistics held, before suppression is called tuned.

    Examples
    --------
    >>> from dcnbio.images import Grating
    >>> whole = CentreSurround(contrast=0.5, surround_contrast=0.5, surround_orientation=0).pattern(Canvas())
    >>> bool(np.allclose(whole, Grating(contrast=0.5).pattern(Canvas()), atol=1e-12))
    True
    """

    orientation: float = 0.0
    spatial_frequency: float = 0.125
    phase: float = 0.0
    contrast: float = 0.5
    surround_orientation: float = 90.0
    surround_spatial_frequency: float = 0.125
    surround_phase: float = 0.0
    surround_contrast: float = 0.5
    diameter: float = 10.0
    gap: float = 0.0
    surround_diameter: float = math.inf
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        centre, surround = self.carriers
        check_carrier("", centre)
        check_carrier("surround_", surround)
        number("diameter", self.diameter, 0)
        number("gap", self.gap, 0)
        if not self.surround_diameter >= self.diameter + 2 * self.gap:
            raise InputError(
                f"surround_diameter is {self.surround_diameter!r} around a disc of {self.diameter!r} and a gap of "
                f"{self.gap!r}: give at least {self.diameter + 2 * self.gap:g}"
            )
        _ = self.windows

    @property
    def carriers(self) -> tuple[Carrier, Carrier]:
        """The sinusoids of centre and surround."""
        surround = (self.surround_orientation, self.surround_spatial_frequency, self.surround_phase)
        return (
            Carrier(self.orientation, self.spatial_frequency, self.phase, self.contrast),
            Carrier(*surround, self.surround_contrast),
        )

    @property
    def windows(self) -> tuple[Window, Window, Window]:
        """The disc of the centre, the hole of the surround and the whole of the surround."""
        outer_edge = self.edge if self.surround_diameter < math.inf else 0.0
        return (
            Window(self.diameter, self.edge, self.centre_y, self.centre_x),
            Window(self.diameter + 2 * self.gap, self.edge, self.centre_y, self.centre_x),
            Window(self.surround_diameter, outer_edge, self.centre_y, self.centre_x),
        )

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast, at any phases: centre and surround share no pixel in full."""
        most = max(self.contrast, self.surround_contrast)
        return -most, most

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]."""
        disc, hole, whole = (window.values(canvas) for window in self.windows)
        centre, surround = (carrier.values(canvas, self.windows[0].centre(canvas)) for carrier in self.carriers)
        return disc * centre + (whole - hole) * surround
