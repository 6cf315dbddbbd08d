"""No option that takes a whole number rounds a fraction in silence: every one of every command is tried."""

from __future__ import annotations

import pytest
from cyclopts import App, CoercionError

from dcnbio.commands.app import app, run
from dcnbio.commands.checked_values import takes_whole_numbers


def commands(parent: App, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], App]]:
    found = [(path, parent)] if parent.default_command else []
    for name in parent:
        if not name.startswith("-"):
            found += commands(parent[name], (*path, name))
    return found


COLLECTIONS = {path: command.assemble_argument_collection() for path, command in commands(app)}
OPTIONS = [
    (path, argument.name)
    for path, arguments in COLLECTIONS.items()
    for argument in arguments
    if argument.show and takes_whole_numbers(argument.hint)
]


def test_the_options_are_those_that_people_know():
    known = {" ".join((*path, name)) for path, name in OPTIONS}
    assert {"probe --batch-size", "train --seed", "train --per-class", "check-solver --mask", "report --seed"} <= known
    assert len(known) > 25


@pytest.mark.parametrize(("path", "name"), OPTIONS, ids=lambda value: str(value))
def test_a_fraction_is_refused_for_a_whole_number(path, name):
    needed = [part for argument in COLLECTIONS[path] if argument.required for part in (argument.name, "x")]
    with pytest.raises(CoercionError, match=r"'1\.5' is no whole number; give one, such as 1\."):
        app.parse_args([*path, *needed, name, "1.5"], exit_on_error=False, print_error=False)


def test_the_refusal_is_one_line_and_status_2(capsys):
    assert run(["probe", "--batch-size", "1.5"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "dcnbio: Invalid value for --batch-size: '1.5' is no whole number; give one, such as 1. "
        "(see dcnbio probe --help)\n"
    )
