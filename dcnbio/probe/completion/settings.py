"""What a person may choose about a completion experiment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["CompletionSettings"]

FILLS = ("grey", "mean")
SIDE = 32


@dataclass(frozen=True)
class CompletionSettings:
    """How a network is shown masked images.

    Attributes
    ----------
    masks : tuple of int
        Sides in pixels of central squares of zeros; odd ones are shown in their four placements.
    main : int
        The side, even, that fills, regions and controls are made for; 14 is the public script's (pixels 9 to 22).
    controls : bool
        Whether other fills, perturbations of equal norm, random places and phase-scrambled images are shown as well.
    times : int
        Equally spaced solver times from 0 to T, at least 2.
    batch_size : int
        Images held in memory together; also the images that each is compared with for the mean distance between
        different images.
    mechanism : int
        Images for growth rates, frozen statistics and the causal test; 0 leaves these out.
    rtol, atol : float
    seed : int
        Of all noise.
    fills : bool
        Whether squares of grey and of the image's mean are shown where the other controls are not: without them
        completion can be claimed of nothing.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> CompletionSettings(main=7)
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: main is 7; it must be an even number from 2 to 32, which has one central place.
    """

    masks: tuple[int, ...] = (6, 10, 14, 18, 22)
    main: int = 14
    controls: bool = True
    times: int = 9
    batch_size: int = 50
    mechanism: int = 16
    rtol: float = 1e-3
    atol: float = 1e-3
    seed: int = 0
    fills: bool = False

    def beside(self) -> CompletionSettings:
        """Leave what a network is shown that another is held against: masks, and the fills that a verdict needs."""
        return replace(self, controls=False, fills=True, mechanism=0)

    def __post_init__(self) -> None:
        for side in self.masks:
            count("masks (--masks)", side, 0)
            if side > SIDE:
                raise InputError(f"masks (--masks) have {side}; the side of a square is at most {SIDE} pixels.")
        for name, least in (("main", 0), ("times", 0), ("batch_size", 0), ("mechanism", 0), ("seed", 0)):
            count(name, getattr(self, name), least)
        if len(set(self.masks)) < len(self.masks):
            raise InputError(f"masks are {', '.join(map(str, self.masks))}; give each side once.")
        if self.main % 2 or not 2 <= self.main <= 32:
            raise InputError(
                f"main is {self.main}; it must be an even number from 2 to 32, which has one central place."
            )
        if self.times < 2:
            raise InputError(f"times is {self.times}; at least 2 are needed, 0 and T.")
        if self.batch_size < 2:
            raise InputError(f"batch_size is {self.batch_size}; at least 2 images are needed to compare images.")
