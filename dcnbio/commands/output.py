"""What commands print: text for people, or one JSON object for programs; a reader that goes away ends no work."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from dcnbio.stored_text import stored_text

__all__ = ["Speaker", "command_text", "complain", "plain", "tell"]


def write(text: str, stream: TextIO) -> None:
    """Write a line; once nobody reads the stream any more, write nowhere."""
    try:
        print(stored_text(text), file=stream, flush=True)
    except BrokenPipeError:
        # the next write, and Python's own at exit, must not fail again
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain(message: str) -> None:
    """Print one plain sentence on stderr."""
    write(f"dcnbio: {' '.join(message.split())}", sys.stderr)


def tell(part: str) -> None:
    """Tell on stderr what is being computed."""
    print(f"{part} ...", file=sys.stderr, flush=True)


def plain(value: Any) -> Any:
    """Give a value that JSON has: None for what is no number.

    Examples
    --------
    >>> plain({"accuracy": float("nan"), "n": (1, 2)})
    {'accuracy': None, 'n': [1, 2]}
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Speaker:
    """Prints for people, or keeps quiet until there is one JSON object to print.

    Parameters
    ----------
    json : bool
        Whether a program reads.
    quiet : bool
        Whether another process speaks for this one.

    Examples
    --------
    >>> Speaker(json=True).say("3 images")
    >>> Speaker(json=True).give({"images": 3}, "3 images")
    {"images": 3}
    """

    def __init__(self, json: bool, quiet: bool = False) -> None:
        self.json, self.quiet = json, quiet

    @property
    def shows_progress(self) -> bool:
        """Whether a bar makes sense: people read, on a terminal."""
        return not (self.json or self.quiet) and sys.stderr.isatty()

    def say(self, sentence: str) -> None:
        """Tell people something, folded to their terminal."""
        if not (self.json or self.quiet):
            write(fold(sentence) if sys.stdout.isatty() else sentence, sys.stdout)

    def note(self, sentence: str) -> None:
        """Tell people something about the input that they should know."""
        self.say(f"note: {sentence}")

    def give(self, found: dict[str, Any], text: str) -> None:
        """Print the result: the object, or the text."""
        write(json.dumps(plain(found), allow_nan=False) if self.json else text, sys.stdout)


def fold(sentence: str) -> str:
    """Fold a sentence to the width of the terminal, without cutting paths."""
    width = max(40, shutil.get_terminal_size().columns - 1)
    return textwrap.fill(sentence, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def command_text(arguments: Sequence[str]) -> str:
    """Write a command line for provenance: the program by its name, absolute paths by their last part.

    Where something lies on one machine says nothing on another, and hashes in the provenance say what it was.

    Examples
    --------
    >>> command_text(["probe", "--images", "/home/ada/my images", "--out=/tmp/run.zarr", "--limit", "3"])
    "dcnbio probe --images 'my images' --out=run.zarr --limit 3"
    """
    shown = []
    for argument in arguments:
        option, equals, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
        absolute = value.startswith(("/", "~", "\\")) or value[1:3] in (":\\", ":/")
        shown.append(option + equals + (Path(value.replace("\\", "/")).name if absolute else value))
    return stored_text(shlex.join(["dcnbio", *shown]))
