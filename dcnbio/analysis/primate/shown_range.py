"""What a network was shown: the ends between which a preference can be found at all."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import xarray as xr

from dcnbio.images.frequencies import LOWEST_FREQUENCY, NYQUIST

__all__ = ["ShownRange", "shown_range"]

DIAMETERS = (1.5, 30.0)


@dataclass(frozen=True)
class ShownRange:
    """Ends of what was shown.

    Attributes
    ----------
    frequency : tuple of float
        Cycles/pixel.
    diameter : tuple of float
        Pixels.

    Examples
    --------
    >>> round(ShownRange().octaves("frequency"), 2)
    3.91
    """

    frequency: tuple[float, float] = (LOWEST_FREQUENCY, NYQUIST)
    diameter: tuple[float, float] = DIAMETERS

    def ends(self, kind: str) -> tuple[float, float]:
        """Give the ends in log2."""
        low, high = self.frequency if kind == "frequency" else self.diameter
        return math.log2(low), math.log2(high)

    def octaves(self, kind: str) -> float:
        """Give the width of the range."""
        low, high = self.ends(kind)
        return high - low


def shown_range(measures: xr.Dataset) -> ShownRange:
    """Read from the settings of a measurement what was shown; the default where they do not say.

    Examples
    --------
    >>> shown_range(xr.Dataset(attrs={"settings": '{"diameters": [2, 8, 30]}'})).diameter
    (2.0, 30.0)
    """
    shown = json.loads(measures.attrs.get("settings", "{}")).get("diameters", DIAMETERS)
    return ShownRange(diameter=(float(min(shown)), float(max(shown))))
