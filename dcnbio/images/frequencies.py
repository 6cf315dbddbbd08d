"""Which spatial frequencies an image can carry, and which it carries badly."""

from __future__ import annotations

from dcnbio.errors import InputError
from dcnbio.images.number_checks import number

__all__ = ["LOWEST_FREQUENCY", "NYQUIST", "check_frequency", "frequency_flag"]

NYQUIST = 0.5  # cycles/pixel
LOWEST_FREQUENCY = 1 / 30  # cycles/pixel: one cycle in 30 of the 32 pixels


def check_frequency(name: str, value: float) -> None:
    """Refuse a spatial frequency that pixels cannot carry.

    Examples
    --------
    >>> check_frequency("spatial_frequency", 0.7)
    Traceback (most recent call last):
    dcnbio.errors.InputError: spatial_frequency is 0.7 cycles/pixel, above Nyquist (0.5): pixels would show 0.3 instead
    """
    number(name, value, 0)
    if value > NYQUIST:
        alias = abs(value - round(value))
        raise InputError(
            f"{name} is {value:g} cycles/pixel, above Nyquist ({NYQUIST}): pixels would show {alias:.4g} instead"
        )
    if value == 0:
        raise InputError(f"{name} is 0: give cycles/pixel of more than 0 and at most {NYQUIST}, or a Spot or Blank")


def frequency_flag(value: float) -> str:
    """Say why tuning at this frequency has to be read with care; an empty string where it has not.

    Examples
    --------
    >>> frequency_flag(0.125), frequency_flag(0.02), frequency_flag(0.5)
    ('', 'below 1/30 cycles/pixel', 'at Nyquist')
    """
    if value < LOWEST_FREQUENCY * (1 - 1e-9):
        return "below 1/30 cycles/pixel"
    return "at Nyquist" if value >= NYQUIST else ""
