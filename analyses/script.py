"""What the scripts here share: they end in words where they cannot go on, and a result names its command."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dcnbio.commands.output import plain
from dcnbio.errors import DcnbioError, InputError

__all__ = ["command_of", "end_in_words", "refuse_existing", "write_json"]

WHERE = ("--out", "--folder", "--json")  # where a result lies is nothing that it follows from
INTERRUPTED = 130


def end_in_words(main: Callable[[], object]) -> None:
    """Run a script: what is wrong with its input is one sentence, with exit status 2, and Ctrl-C is no error.

    Examples
    --------
    >>> def script():
    ...     raise DcnbioError("limit is 0; give 1 or more.")
    >>> end_in_words(script)
    Traceback (most recent call last):
    SystemExit: 2
    """
    try:
        main()
    except DcnbioError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_status) from None
    except KeyboardInterrupt:
        print(f"{Path(sys.argv[0]).name}: interrupted; what is finished is kept", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def refuse_existing(path: Path | None, overwrite: bool) -> None:
    """End before anything is computed where a file is in the way of its result; no path, no result.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_existing(Path("no-such.json"), False), refuse_existing(Path("."), True), refuse_existing(None, False)
    (None, None, None)
    >>> refuse_existing(Path("."), False)
    Traceback (most recent call last):
    dcnbio.errors.InputError: . exists already; choose another name or pass --overwrite
    """
    if path is not None and path.exists() and not overwrite:
        raise InputError(f"{path} exists already; choose another name or pass --overwrite")


def command_of(script: str, arguments: Sequence[str]) -> str:
    """Write the command that makes a result again, on any machine: folders and places are left out.

    Examples
    --------
    >>> command_of("half_a_point.py", ["--images", "/data/test.tar.xz", "dcn-ode", "--out", "a.json", "--overwrite"])
    'python analyses/half_a_point.py --images test.tar.xz dcn-ode'
    """
    told, rest = [], iter(arguments)
    for word in rest:
        if word in WHERE:
            next(rest, None)
        elif word != "--overwrite" and not word.startswith(tuple(f"{option}=" for option in WHERE)):
            told.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(["python", f"analyses/{script}", *told])


def write_json(path: Path, values: Mapping[str, Any], script: str, arguments: Sequence[str] | None) -> None:
    """Write a result as JSON, with the command that made it.

    Parameters
    ----------
    path : Path
    values : mapping
    script : str
        Its file's name.
    arguments : sequence of str, optional
        Of the script; those of this process if left out.
    """
    command = command_of(script, sys.argv[1:] if arguments is None else arguments)
    text = json.dumps({**plain(dict(values)), "command": command}, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
