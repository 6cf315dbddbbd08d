"""The options that several commands share, written once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from dcnbio.errors import InputError

__all__ = [
    "HOW",
    "PRINTED",
    "WHAT",
    "WHERE",
    "WHICH",
    "Blocks",
    "Channels",
    "Checkpoint",
    "Fill",
    "Images",
    "IntegrationTime",
    "Json",
    "Limit",
    "Model",
    "Reduce",
    "Times",
    "Where",
    "Window",
    "block_list",
    "channels_option",
    "fill_value",
    "flag",
    "integration_time",
    "limit_of",
    "name_list",
    "times_option",
    "whole_numbers",
    "window_option",
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
    Parameter(
        help="How many images, spread evenly over the classes, or all. [default: 100; check-solver 40, evaluate all]"
    ),
]
Times = Annotated[
    str,
    Parameter(help="A count of solver times from 0 to T, or the times, e.g. 0,0.5,2; or accepted: the solver's steps."),
]
Blocks = Annotated[str | None, Parameter(help="Blocks to record, e.g. 1,3; all if left out.")]
Channels = Annotated[
    str | None, Parameter(help="Channels to record, e.g. 0-7,12; or by block, e.g. '1=0-7;3=5'. All if left out.")
]
Window = Annotated[
    str | None,
    Parameter(
        help="Rows and columns of the maps to record, e.g. 12:20,12:20; or by block, e.g. '1=12:20,12:20;2=:8,:8'."
    ),
]
Reduce = Annotated[
    str | None,
    Parameter(
        help="Numbers to compute from h at each time while solving, e.g. h_norm,slope_norm; an unknown name lists all."
    ),
]
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


@dataclass(frozen=True)
class Where:
    """Where the result of an analysis goes."""

    out: Annotated[Path | None, Parameter(help="A .nc file for all tables, which figures are made from.")] = None
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace a result that is there.")] = False
    json: Json = False


PRINTED = Where()


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


def times_option(text: str) -> int | list[float] | str:
    """Read a count of times, the times between commas, or the word for the solver's own.

    Examples
    --------
    >>> times_option("21"), times_option("0,0.5"), times_option("accepted")
    (21, [0.0, 0.5], 'accepted')
    """
    if text.strip() == "accepted":
        return "accepted"
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


def whole_numbers(text: str, name: str) -> list[int]:
    """Read whole numbers and ranges, both ends included, between commas.

    Examples
    --------
    >>> whole_numbers("0-3,12", "--channels")
    [0, 1, 2, 3, 12]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start = whole_number(first, name)
        found += range(start, whole_number(last, name) + 1) if dash else [start]
    return found


def by_block(text: str, name: str) -> dict[int, str] | None:
    """Read what is said block by block, or None where it is said for all."""
    if "=" not in text:
        return None
    pairs = [part.partition("=") for part in text.split(";")]
    return {whole_number(block, name): value for block, _, value in pairs}


def channels_option(text: str | None) -> list[int] | dict[int, list[int]] | None:
    """Read channels, for all blocks or by block.

    Examples
    --------
    >>> channels_option("0-2,5"), channels_option("1=0-1;3=5")
    ([0, 1, 2, 5], {1: [0, 1], 3: [5]})
    """
    if text is None:
        return None
    given = by_block(text, "--channels")
    if given is None:
        return whole_numbers(text, "--channels")
    return {block: whole_numbers(value, "--channels") for block, value in given.items()}


def window_option(text: str | None) -> str | dict[int, str] | None:
    """Read a window, for all blocks or by block.

    Examples
    --------
    >>> window_option("12:20,12:20"), window_option("1=12:20,12:20;2=:8,:8")
    ('12:20,12:20', {1: '12:20,12:20', 2: ':8,:8'})
    """
    return text if text is None else by_block(text, "--window") or text


def name_list(text: str | None) -> list[str]:
    """Read names between commas.

    Examples
    --------
    >>> name_list("h_norm, slope_norm"), name_list(None)
    (['h_norm', 'slope_norm'], [])
    """
    return [] if text is None else [part.strip() for part in text.split(",")]


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
