"""No option takes an empty value, which as a path is the folder one is in: every one of every command is tried."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import pytest
from cyclopts import App, CoercionError

from dcnbio.commands.app import app, run


def commands(parent: App, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], App]]:
    found = [(path, parent)] if parent.default_command else []
    for name in parent:
        if not name.startswith("-"):
            found += commands(parent[name], (*path, name))
    return found


def takes_text(kind: Any) -> bool:
    """Whether a type is that of a text or a path, alone, as a part, or beside others."""
    return kind in (str, Path) or any(map(takes_text, get_args(kind)))


COLLECTIONS = {path: command.assemble_argument_collection() for path, command in commands(app)}
OPTIONS = [
    (path, argument.name)
    for path, arguments in COLLECTIONS.items()
    for argument in arguments
    if argument.show and takes_text(argument.hint)
]


def test_the_options_are_those_that_people_know():
    known = {" ".join((*path, name)) for path, name in OPTIONS}
    assert {"train --out", "train --start", "train --test-images", "train --set", "train --images"} <= known
    assert {"info NAME", "probe --out", "probe --checkpoint", "report --out", "figures --out"} <= known
    assert len(known) > 50


@pytest.mark.parametrize("value", ["", " "])
@pytest.mark.parametrize(("path", "name"), OPTIONS, ids=lambda value: str(value))
def test_an_empty_value_is_refused(path, name, value):
    places = [argument.name for argument in COLLECTIONS[path] if not argument.name.startswith("-")]
    needed = [argument.name for argument in COLLECTIONS[path] if argument.required and argument.name != name]
    if name in places:
        given = [*["x"] * places.index(name), value]
    else:
        given = [*["x" for place in places if place in needed], name, value]
    options = [part for option in needed if option not in places for part in (option, "x")]
    with pytest.raises(CoercionError, match=r"' ?' is empty, as of an unset shell variable; give a value, or leave"):
        app.parse_args([*path, *options, *given], exit_on_error=False, print_error=False)


def test_the_refusal_is_one_line_and_status_2_and_nothing_is_written(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["train", "--images", "x", "--out", ""]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "dcnbio: Invalid value for --out: '' is empty, as of an unset shell variable; give a value, or leave the "
        "option out. (see dcnbio train --help)\n"
    )
    assert os.listdir(tmp_path) == []
