"""How figures are written, and where each setting came from: a default, a recipe or the command line."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.figures.export.formats import check_formats
from dcnbio.figures.venues import find_venue

__all__ = ["ExportSettings", "read_figure_recipe", "settle_settings"]

KNOWN = {"venue": str, "formats": list, "dpi": list, "latex": bool, "stimulus": int, "channel": str}
PROGRAMS = ("latex", "dvipng", "gs")


@dataclass(frozen=True)
class ExportSettings:
    """How figures are written.

    Attributes
    ----------
    venue : str
    formats : tuple of str
    dpi : tuple of int
        Of files made of pixels.
    latex : bool
    stimulus : int or None
        Index of the image that figures of a recording show; None leaves it to them.
    channel : str or None
        The channel they show, of all blocks ("5") or by block ("1=5;3=12"); None leaves it to them.
    origins : mapping of str to str
        Of each setting: "default", "recipe" or "command line".
    """

    venue: str
    formats: tuple[str, ...]
    dpi: tuple[int, ...]
    latex: bool
    stimulus: int | None
    channel: str | None
    origins: Mapping[str, str]

    def described(self) -> dict[str, dict[str, Any]]:
        """Give each setting with where it came from."""
        plain = {name: getattr(self, name) for name in KNOWN}
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}
        return {name: {"value": value, "from": self.origins[name]} for name, value in values.items()}


def read_figure_recipe(path: str | Path) -> dict[str, Any]:
    """Read settings of figures from a TOML file; what it leaves out has its default.

    Raises
    ------
    InputError
        If it cannot be read, or holds a setting that does not exist or is of another type.

    Examples
    --------
    >>> read_figure_recipe("no-such.toml")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: recipe (--recipe) is no-such.toml, which cannot be read: give a .toml file.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"recipe (--recipe) is {path}, which cannot be read: give a .toml file.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"recipe (--recipe) is {path}, which is no TOML: {error}.") from error
    for name, value in values.items():
        if name not in KNOWN:
            raise InputError(f"recipe (--recipe) {path} sets {name!r}; known are {', '.join(KNOWN)}.")
        if type(value) is not KNOWN[name]:  # TOML has plain types, and true is no number
            raise InputError(f"recipe (--recipe) {path} sets {name} = {value!r}; it must be a {KNOWN[name].__name__}.")
    return values


def settle_settings(command_line: Mapping[str, Any], recipe: Mapping[str, Any]) -> ExportSettings:
    """Take each setting from the command line, else from the recipe, else its default.

    Parameters
    ----------
    command_line, recipe : mapping
        Settings that were given: venue, formats, dpi, latex, stimulus, channel.

    Returns
    -------
    ExportSettings

    Raises
    ------
    InputError
        If a value is not allowed, or LaTeX is asked for and not there.

    Examples
    --------
    >>> found = settle_settings({"venue": "plos"}, {"venue": "icml", "dpi": [300]})
    >>> found.formats, found.dpi, dict(found.origins)["venue"], dict(found.origins)["dpi"]
    (('tiff', 'eps'), (300,), 'command line', 'recipe')
    """
    given = {**recipe, **command_line}
    origins = dict.fromkeys(KNOWN, "default")
    origins |= dict.fromkeys(recipe, "recipe") | dict.fromkeys(command_line, "command line")
    venue = find_venue(str(given.get("venue", "screen")))
    dpi = tuple(given.get("dpi", (300, 600)))
    if (
        not dpi
        or any(not isinstance(value, int) or not 50 <= value <= 2400 for value in dpi)
        or len(set(dpi)) < len(dpi)
    ):
        raise InputError(f"dpi (--dpi) is {list(dpi)}; give whole numbers from 50 to 2400, each once.")
    latex = bool(given.get("latex", False))
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if latex and missing:
        raise InputError(
            f"latex (--latex) is asked for, but {missing[0]} is not installed; install LaTeX or leave it out, "
            "matplotlib sets the text as well."
        )
    formats = check_formats(given.get("formats", venue.formats))
    return ExportSettings(venue.name, formats, dpi, latex, given.get("stimulus"), given.get("channel"), origins)
