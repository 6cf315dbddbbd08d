"""How the scales of a layer of structured receptive fields are shared, change in time and are windowed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ScaleRule"]


@dataclass(frozen=True)
class ScaleRule:
    """How scales are shared, change in time and are windowed.

    Attributes
    ----------
    order : int
        N of the N-jet.
    per_pair : bool
        One sigma per (input, output) channel pair on a fixed window, instead of one per layer.
    sigma_degree, alpha_degree : int
        Degree in time of log2 sigma and of alpha.
    extent : float
        The window of a shared sigma is 2 ceil(extent sigma + 0.5) + 1 pixels wide.
    pair_size : int
        Width in pixels, odd, of the fixed window of per-pair scales.
    """

    order: int = 2
    per_pair: bool = False
    sigma_degree: int = 0
    alpha_degree: int = 0
    extent: float = 2.0
    pair_size: int = 7
