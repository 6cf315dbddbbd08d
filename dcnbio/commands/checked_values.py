"""What every option refuses: a fraction for a whole number, which cyclopts would round, and a value that is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from cyclopts import UNSET, Token, convert

from dcnbio.errors import InputError

__all__ = ["checked_values"]


def takes_whole_numbers(kind: Any) -> bool:
    """Whether a type is that of whole numbers, alone or as parts, and of no others.

    Examples
    --------
    >>> takes_whole_numbers(int | None), takes_whole_numbers(tuple[int, ...]), takes_whole_numbers(float | int)
    (True, True, False)
    """
    parts = [part for part in get_args(kind) if part not in (type(None), ...)]
    return all(map(takes_whole_numbers, parts)) if parts else kind is int


def checked_values(kind: Any, tokens: Sequence[Token]) -> Any:
    """Give an option's value as cyclopts does, but refuse what it would take for something that nobody meant.

    That is 1.5 for a whole number, which it takes for 2, and '', as of an unset shell variable, which as a path is the
    folder one is in.

    Parameters
    ----------
    kind : type
        Of the option.
    tokens : sequence of Token
        What was written.

    Raises
    ------
    InputError
        If there is a fraction where a whole number is needed, or nothing at all.

    Examples
    --------
    >>> checked_values(int, [Token(keyword="--seed", value="3")])
    3
    >>> checked_values(int, [Token(keyword="--seed", value="1.5")])
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: '1.5' is no whole number; give one, such as 1.
    >>> checked_values(str, [Token(keyword="--out", value="")])
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: '' is empty, as of an unset shell variable; give a value, or leave the option out.
    """
    for token in tokens:
        # a flag has no value that was written
        if not token.value.strip() and token.implicit_value is UNSET:
            raise InputError(
                f"{token.value!r} is empty, as of an unset shell variable; give a value, or leave the option out."
            )
        if takes_whole_numbers(kind) and "." in token.value:
            # cyclopts puts the option's name before it
            raise InputError(f"{token.value!r} is no whole number; give one, such as 1.")
    return convert(kind, tokens)
