"""The options that several commands share, written once."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from dcnbio.errors import InputError

__all__ = [
    "Blocks",
    "Checkpoint",
    "Images",
    "IntegrationTime",
    "Json",
    "Model",
    "Times",
    "integration_time",
    "number_list",
    "times_option",
]

Checkpoint = Annotated[str, Parameter(help="A shipped name, a .safetensors or .pth file, or a folder with one.")]
Images = Annotated[
    str | None, Parameter(help="CIFAR-10 in an official layout, a folder, archive, .npz or image; else what ships.")
]
Model = Annotated[str | None, Parameter(help="The row of a public .pth, which does not say what it is.")]
Times = Annotated[str, Parameter(help="A count of solver times from 0 to T, or the times, e.g. 0,0.5,2.")]
Blocks = Annotated[str | None, Parameter(help="Blocks to record, e.g. 1,3; all if left out.")]
IntegrationTime = Annotated[
    str | None, Parameter(help="T of all blocks (2) or of some (1:0.12 or 1:0.12,2:1); else the checkpoint's.")
]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print machine-readable results.")]


def number(text: str, name: str) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} has {text!r} where a number is needed.") from None


def number_list(text: str, name: str) -> list[float]:
    """Read numbers between commas."""
    return [number(part, name) for part in text.split(",")]


def times_option(text: str) -> int | list[float]:
    """Read a count of times, or the times between commas.

    Examples
    --------
    >>> times_option("21"), times_option("0,0.5")
    (21, [0.0, 0.5])
    """
    return int(text) if text.strip().lstrip("+-").isdigit() else number_list(text, "--times")


def integration_time(text: str | None) -> dict[str, Any]:
    """Read T for all blocks or by block, as the override it is.

    Examples
    --------
    >>> integration_time("1:0.12"), integration_time("2"), integration_time(None)
    ({'integration_time': {1: 0.12}}, {'integration_time': 2.0}, {})
    """
    if text is None:
        return {}
    if ":" not in text:
        values = number_list(text, "--integration-time")
        return {"integration_time": values[0] if len(values) == 1 else tuple(values)}
    by_block = {}
    for part in text.split(","):
        block, _, time = part.partition(":")
        by_block[int(number(block, "--integration-time"))] = number(time, "--integration-time")
    return {"integration_time": by_block}
