"""The checks that every setting of a recipe passes: one of a choice, a number, a whole number, a flag."""

from __future__ import annotations

import math

from dcnbio.errors import InputError

__all__ = ["check_choice", "check_flag", "check_number", "check_whole"]


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise InputError(f"{name} is {value!r}; allowed are {', '.join(allowed)}.")


def check_number(name: str, value: object, least: float, most: float = math.inf, *, optional: bool = False) -> None:
    """Refuse what is no number in its range, or None where that says something."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not ((optional and value is None) or (real and least <= value <= most)):  # type: ignore[operator]
        none = ", and none" if optional else ""
        raise InputError(f"{name} is {value!r}; allowed are numbers from {least:g} to {most:g}{none}.")


def check_whole(name: str, value: object, least: int, most: float = math.inf, *, optional: bool = False) -> None:
    """Refuse what is no whole number in its range, or None where that says something."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not ((optional and value is None) or (whole and least <= value <= most)):  # type: ignore[operator]
        end, none = f"to {most:g}" if math.isfinite(most) else "on", ", and none" if optional else ""
        raise InputError(f"{name} is {value!r}; allowed are whole numbers from {least} {end}{none}.")


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; allowed are true and false.")
