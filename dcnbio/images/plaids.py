"""Plaids: two gratings on top of each other, the classic test of cross-orientation suppression."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.images.canvas import Canvas
from dcnbio.images.gratings import Carrier, check_carrier
from dcnbio.images.windows import Window

__all__ = ["Plaid"]


@dataclass(frozen=True)
class Plaid:
    """The sum of a test and a mask grating in one window: L [1 + W (p + p_mask)].

    Parameters
    ----------
    orientation, spatial_frequency, phase, contrast : float
        Of the test grating, as in `Grating`.
    mask_orientation, mask_spatial_frequency, mask_phase, mask_contrast : float
        Of the mask grating. The contrasts add: together at most 1 on grey of 0.5.
    diameter, edge : float
        Of the window that both share, in pixels.
    centre_y, centre_x : float, optional
        Centre of the window in pixels, where both phases are counted from; the middle of the canvas if left out.

    Raises
    ------
    InputError
        When a number is not one of those allowed.

    Notes
    -----
    It misleads when suppression by the mask is read as an interaction of filters: group norm divides by the standard
    deviation of the whole map, which the mask raises, so an untrained network shows it as well. Gratings of one
    orientation and frequency add to a third one, of a contrast that depends on their phases.

    Examples
    --------
    >>> from dcnbio.images import Grating
    >>> canvas = Canvas()
    >>> both = Plaid(orientation=0, mask_orientation=90, contrast=0.3, mask_contrast=0.6).pattern(canvas)
    >>> apart = Grating(0, contrast=0.3).pattern(canvas) + Grating(90, contrast=0.6).pattern(canvas)
    >>> bool(np.allclose(both, apart, atol=1e-12))
    True
    """

    orientation: float = 0.0
    spatial_frequency: float = 0.125
    phase: float = 0.0
    contrast: float = 0.25
    mask_orientation: float = 90.0
    mask_spatial_frequency: float = 0.125
    mask_phase: float = 0.0
    mask_contrast: float = 0.25
    diameter: float = math.inf
    edge: float = 0.0
    centre_y: float | None = None
    centre_x: float | None = None

    def __post_init__(self) -> None:
        test, mask = self.carriers
        check_carrier("", test)
        check_carrier("mask_", mask)
        _ = self.window

    @property
    def carriers(self) -> tuple[Carrier, Carrier]:
        """The sinusoids of test and mask."""
        return (
            Carrier(self.orientation, self.spatial_frequency, self.phase, self.contrast),
            Carrier(self.mask_orientation, self.mask_spatial_frequency, self.mask_phase, self.mask_contrast),
        )

    @property
    def window(self) -> Window:
        """Where the plaid is shown."""
        return Window(self.diameter, self.edge, self.centre_y, self.centre_x)

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast, at any phases: that of test and mask together."""
        together = self.contrast + self.mask_contrast
        return -together, together

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast at every pixel [y, x]."""
        centre = self.window.centre(canvas)
        test, mask = (carrier.values(canvas, centre) for carrier in self.carriers)
        return self.window.values(canvas) * (test + mask)
