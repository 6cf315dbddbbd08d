"""The checks that every parameter of a stimulus passes: a finite number, a whole number, a seeded generator."""

from __future__ import annotations

import math

import numpy as np

from dcnbio.errors import InputError

__all__ = ["count", "generator", "number"]


def number(name: str, value: float, least: float = -math.inf, most: float = math.inf) -> None:
    """Refuse what is no finite number from `least` to `most`.

    Examples
    --------
    >>> number("phase", 90.0)
    >>> number("contrast", 2.0, 0, 1)
    Traceback (most recent call last):
    dcnbio.errors.InputError: contrast is 2.0: give a finite number from 0 to 1
    """
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if real and math.isfinite(value) and least <= value <= most:
        return
    limits = (math.isfinite(least), math.isfinite(most))
    allowed = {(True, True): f" from {least:g} to {most:g}", (True, False): f" of at least {least:g}"}.get(limits, "")
    raise InputError(f"{name} is {value!r}: give a finite number{allowed}")


def count(name: str, value: int, least: int) -> None:
    """Refuse what is no whole number of at least `least`.

    Examples
    --------
    >>> count("height", 0, 1)
    Traceback (most recent call last):
    dcnbio.errors.InputError: height is 0: give a whole number of at least 1
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}: give a whole number of at least {least}")


def generator(rng: np.random.Generator) -> None:
    """Refuse what is no generator, such as a bare seed.

    Examples
    --------
    >>> generator(7)
    Traceback (most recent call last):
    dcnbio.errors.InputError: rng is 7: give a seeded generator, numpy.random.default_rng(7) for instance
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is {rng!r}: give a seeded generator, numpy.random.default_rng(7) for instance")
