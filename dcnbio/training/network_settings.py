"""Checks the settings of the network in a recipe: their names and types, before anything is built of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec
from dcnbio.training.setting_checks import is_finite

__all__ = ["check_network_settings"]

ELSEWHERE = {
    "row": "the row is the recipe's model (--model)",
    "vector_field": "a recipe has no code, so train a network with a field of its own in Python, by its own loop",
}
MOST = 1_000_000


def is_whole(value: object) -> bool:
    """Whether a value is a whole number that memory could have room for."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST


def are_whole(value: object) -> bool:
    """Whether a value is a list of whole numbers."""
    return isinstance(value, list | tuple) and all(map(is_whole, value))


def are_times(value: object) -> bool:
    """Whether a value is T: of all blocks, of each in a list, or of some by their number."""
    if isinstance(value, Mapping):
        return all(str(block).isdecimal() for block in value) and all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list | tuple) else is_finite(value)


def is_text(value: object) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "str": (is_text, "text"),
    "int": (is_whole, f"a whole number of {MOST:,} at most"),
    "float": (is_finite, "a finite number"),
    "tuple[int, ...]": (are_whole, f"a list of whole numbers of {MOST:,} at most"),
    "tuple[float, ...]": (are_times, "a finite number, a list of them, or a table of blocks"),
}


def check_network_settings(network: Mapping[str, Any]) -> None:
    """Refuse settings of a network that are of a wrong type; which values are allowed, `NetworkSpec` says.

    Parameters
    ----------
    network : mapping
        Settings of `NetworkSpec` in place of the row's.

    Raises
    ------
    InputError
        If there is no such setting, or its value is of another type.

    Examples
    --------
    >>> check_network_settings({"widths": [8, 16], "integration_time": {"1": 0.12}})
    >>> check_network_settings({"classes": True})
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: network.classes is True; it must be a whole number of 1,000,000 at most.
    """
    kinds = {item.name: str(item.type) for item in fields(NetworkSpec)}
    for name, value in network.items():
        if name in ELSEWHERE:
            raise InputError(f"network.{name} is {value!r}, and is no setting of a recipe: {ELSEWHERE[name]}.")
        if name not in kinds:
            known = ", ".join(sorted(set(kinds) - set(ELSEWHERE)))
            raise InputError(f"a network has no setting {name!r}; known are {known}.")
        right, kind = KINDS[kinds[name]]
        if not right(value):
            raise InputError(f"network.{name} is {value!r}; it must be {kind}.")
