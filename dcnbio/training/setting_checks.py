"""The checks that every setting of a recipe passes: one of a choice, a number, a whole number, a flag."""

from __future__ import annotations

import math

from dcnbio.errors import InputError

__all__ = ["check_choice", "check_flag", "check_number", "check_text", "check_whole", "is_finite"]

MOST_WHOLE = 2**63 - 1  # what generators and tensors have room for


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise InputError(f"{name} is {value!r}; allowed are {', '.join(allowed)}.")


def check_text(name: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; give text between quotation marks.")


def is_finite(value: object) -> bool:
    """Whether a value is a number that a float can be.

    Examples
    --------
    >>> is_finite(1), is_finite(math.inf), is_finite(10**400), is_finite(True)
    (True, False, False, False)
    """
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def check_number(
    name: str,
    value: object,
    least: float,
    most: float = math.inf,
    *,
    optional: bool = False,
    above: bool = False,
) -> None:
    """Refuse what is no finite number in its range, or None where that says something; `above`: its end is no part."""
    if optional and value is None:
        return
    if is_finite(value) and (least < value if above else least <= value) and value <= most:  # type: ignore[operator]
        return
    none = ", and none where there is to be no limit" if optional else ""
    kind, end = ("above", "") if above else ("from", " on")
    end = f" to {most:g}" if math.isfinite(most) else end
    raise InputError(f"{name} is {value!r}; allowed are numbers {kind} {least:g}{end}, inf not among them{none}.")


def check_whole(name: str, value: object, least: int, most: int = MOST_WHOLE, *, optional: bool = False) -> None:
    """Refuse what is no whole number in its range, or None where that says something."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not ((optional and value is None) or (whole and least <= value <= most)):  # type: ignore[operator]
        end, none = f"to {most:g}" if most < MOST_WHOLE else "on", ", and none" if optional else ""
        raise InputError(f"{name} is {value!r}; allowed are whole numbers from {least} {end}{none}.")


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; allowed are true and false.")
