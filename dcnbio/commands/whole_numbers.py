"""Whole numbers on the command line: what has a fraction is refused, where cyclopts would round it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from cyclopts import Token, convert

from dcnbio.errors import InputError

__all__ = ["checked_numbers"]


def takes_whole_numbers(kind: Any) -> bool:
    """Whether a type is that of whole numbers, alone or as parts, and of no others.

    Examples
    --------
    >>> takes_whole_numbers(int | None), takes_whole_numbers(tuple[int, ...]), takes_whole_numbers(float | int)
    (True, True, False)
    """
    parts = [part for part in get_args(kind) if part not in (type(None), ...)]
    return all(map(takes_whole_numbers, parts)) if parts else kind is int


def checked_numbers(kind: Any, tokens: Sequence[Token]) -> Any:
    """Give an option's value as cyclopts does, but refuse 1.5 for a whole number, which it takes for 2.

    Parameters
    ----------
    kind : type
        Of the option.
    tokens : sequence of Token
        What was written.

    Raises
    ------
    InputError
        If there is a fraction where a whole number is needed.

    Examples
    --------
    >>> checked_numbers(int, [Token(keyword="--seed", value="3")])
    3
    >>> checked_numbers(int, [Token(keyword="--seed", value="1.5")])
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: '1.5' is no whole number; give one, such as 1.
    """
    for token in tokens:
        if takes_whole_numbers(kind) and "." in token.value:
            # cyclopts puts the option's name before it
            raise InputError(f"{token.value!r} is no whole number; give one, such as 1.")
    return convert(kind, tokens)
