"""The options that several commands share, written once."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Group, Parameter

from dcnbio.errors import InputError

__all__ = [
    "HOW",
    "WHAT",
    "WHERE",
    "WHICH",
    "Blocks",
    "Checkpoint",
    "Fill",
    "Images",
    "IntegrationTime",
    "Json",
    "Limit",
    "Model",
    "Times",
    "block_list",
    "fill_value",
    "flag",
    "integration_time",
    "limit_of",
    "times_option",
]

WHAT = Group("Network and recording", sort_key=1)
WHICH = Group("Images", sort_key=2)
HOW = Group("Solver", sort_key=3)
WHERE = Group("Output", sort_key=4)

Checkpoint = Annotated[str, Parameter(help="A shipped name, a .safetensors or .pth file, or a folder with one.")]
Images = Annotated[
    str | None,
    Parameter(help="CIFAR-10 in an official layout, a folder, tar archive, .npz or image; else the 1,000 shipped."),
]
Model = Annotated[str | None, Parameter(help="The row of a public .pth, which does not say what it is.")]
Limit = Annotated[
    str | None,
    Parameter(help="How many images, spread evenly over the classes, or all. [default: probe 100, evaluate all]"),
]
Times = Annotated[str, Parameter(help="A count of solver times from 0 to T, or the times, e.g. 0,0.5,2.")]
Blocks = Annotated[str | None, Parameter(help="Blocks to record, e.g. 1,3; all if left out.")]
Fill = Annotated[str, Parameter(help="What a mask is filled with: a number, grey or mean.")]
IntegrationTime = Annotated[
    str | None, Parameter(help="T of all blocks (2) or of some (1:0.12 or 1:0.12,2:1); else the checkpoint's.")
]
Json = Annotated[
    bool,
    Parameter(name="--json", negative=(), show_default=False, help="Print one JSON object instead of text."),
]


def flag(sentence: str) -> Parameter:
    """Describe an option that is given or left out."""
    return Parameter(negative=(), show_default=False, help=sentence)


def number(text: str, name: str) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} has {text!r} where a number is needed.") from None


def whole_number(text: str, name: str) -> int:
    """Read one whole number."""
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name} has {text!r} where a whole number is needed.") from None


def times_option(text: str) -> int | list[float]:
    """Read a count of times, or the times between commas.

    Examples
    --------
    >>> times_option("21"), times_option("0,0.5")
    (21, [0.0, 0.5])
    """
    if text.strip().lstrip("+-").isdecimal():
        return int(text)
    return [number(part, "--times") for part in text.split(",")]


def block_list(text: str | None) -> list[int] | None:
    """Read block numbers between commas.

    Examples
    --------
    >>> block_list("1,3"), block_list(None)
    ([1, 3], None)
    """
    return None if text is None else [whole_number(part, "--blocks") for part in text.split(",")]


def limit_of(text: str | None) -> int | None:
    """Read how many images; None: all.

    Examples
    --------
    >>> limit_of("20"), limit_of("all")
    (20, None)
    """
    return None if text is None or text == "all" else whole_number(text, "--limit")


def fill_value(text: str) -> float | str:
    """Read what a mask is filled with.

    Examples
    --------
    >>> fill_value("grey"), fill_value("0.5")
    ('grey', 0.5)
    """
    return text if text in ("grey", "mean") else number(text, "--fill")


def integration_time(text: str | None) -> dict[str, Any]:
    """Read T for all blocks or by block, as the override it is.

    Examples
    --------
    >>> integration_time("1:0.12"), integration_time("2"), integration_time(None)
    ({'integration_time': {1: 0.12}}, {'integration_time': 2.0}, {})
    """
    name = "--integration-time"
    if text is None:
        return {}
    if ":" not in text:
        values = [number(part, name) for part in text.split(",")]
        return {"integration_time": values[0] if len(values) == 1 else tuple(values)}
    pairs = [part.partition(":") for part in text.split(",")]
    return {"integration_time": {whole_number(block, name): number(time, name) for block, _, time in pairs}}
