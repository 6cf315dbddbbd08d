"""What a contrast experiment runs: contrasts, how many images for each part, and the solver's tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["ContrastSettings", "checked_contrasts"]

LARGEST = 1e3  # T / c and T-hat = c T stay within what a solver's time can hold
CONTRASTS = (0.001, 0.003, 0.01, 0.03, 0.06, 0.2, 0.5, 2.0, 10**0.7)
# between 4 and 64 evaluations fall by steps of six to the fewest there are, so there the factors lie close
LOOSER = (1, 2, *(2 ** (k / 4) for k in range(8, 25)), 128, 1024)
HALF_DECADES = tuple(10 ** (k / 2) for k in range(-3, 2))


def checked_contrasts(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Give contrasts in rising order, each once.

    Raises
    ------
    InputError
        If one is 0, negative, not finite or beyond reason.

    Examples
    --------
    >>> checked_contrasts("contrasts", [1, 0.1, 1])
    (0.1, 1.0)
    """
    found = sorted({float(value) for value in values if value == value})
    bad = [value for value in values if not (math.isfinite(value) and 1 / LARGEST <= value <= LARGEST)]
    if bad or not found:
        named = f"{bad[0]:g}" if bad else "empty"
        raise InputError(
            f"{name} has {named}; a contrast lies between {1 / LARGEST:g} and {LARGEST:g} (the paper: 0.001 to 5): at "
            "0 every image is the same black one, and T-hat = c T leaves block 1 no time."
        )
    return tuple(found)


@dataclass(frozen=True)
class ContrastSettings:
    """Settings of a contrast experiment.

    Attributes
    ----------
    contrasts : tuple of float
        Of the accuracy curves; contrast 1 is always run as the reference.
    attributed : tuple of float
        Contrasts whose deviation is taken apart by the factorial of eps, time term and tolerance.
    whole : tuple of float
        Contrasts at which the inputs of all blocks are scaled.
    few : int
        Images of the factorial, of the tolerances and of the surface: the first ones.
    precise : int
        Images on which the law is checked in float64.
    batch_size : int
        Images that share their steps where the inputs of all blocks are scaled.
    rtol, atol : float
        Tolerance.
    looser : tuple of float
        Factors of block 1's tolerance and first step at contrast 1.
    surface : tuple of float
        Contrasts, and factors of T, of the contrast-time surface.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> ContrastSettings(contrasts=(0.1, 0.01)).contrasts
    (0.01, 0.1)
    """

    contrasts: tuple[float, ...] = CONTRASTS
    attributed: tuple[float, ...] = (0.01, 0.06)
    whole: tuple[float, ...] = (0.06,)
    few: int = 20
    precise: int = 2
    batch_size: int = 20
    rtol: float = 1e-3
    atol: float = 1e-3
    looser: tuple[float, ...] = LOOSER
    surface: tuple[float, ...] = HALF_DECADES

    def __post_init__(self) -> None:
        for name in ("contrasts", "attributed", "whole", "surface"):
            object.__setattr__(self, name, checked_contrasts(name, getattr(self, name)))
        for name in ("few", "precise", "batch_size"):
            count(name, getattr(self, name), 1)
        for name in ("rtol", "atol"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InputError(f"{name} is {getattr(self, name)}; it must be positive (the paper uses 1e-3).")
        if not self.looser or any(not math.isfinite(k) or k < 1 for k in self.looser):
            raise InputError(f"looser has {list(self.looser)}; give factors of the tolerance, each 1 or more.")
        object.__setattr__(self, "looser", tuple(sorted({1.0, *map(float, self.looser)})))
