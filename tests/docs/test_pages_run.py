"""The Python of every page runs from top to bottom, and the commands that pages show exist with these options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from dcnbio.commands.app import app

ROOT = Path(__file__).parents[2]
WRITTEN = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts)]


def blocks(page: Path, language: str) -> list[str]:
    """List the blocks of code of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(text: str) -> Iterator[str]:
    """List what follows ``dcnbio`` in the command lines of shell scripts, also after a launcher; variables are 1."""
    for line in text.replace("\\\n", " ").splitlines():
        command = re.sub(r"\$\([^)]*\)|\$\{[^}]*\}|\$\w+", "1", line.partition(" #")[0].rpartition("&&")[2])
        found = re.search(r"(?:^\s*(?:\S*/bin/)?|\s-m )dcnbio (.*)", command)
        if found is not None and not line.startswith("#"):
            yield found[1].strip()


def shown(page: Path) -> list[str]:
    """List the command lines of dcnbio that a page shows."""
    return [command for block in blocks(page, "bash") for command in commands(block)]


@pytest.mark.parametrize("page", [page for page in WRITTEN if blocks(page, "python")], ids=lambda page: page.stem)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context({"backend": "agg"}):
        exec(compile("\n".join(blocks(page, "python")), page.name, "exec"), {"__name__": "page"})


def test_every_how_to_page_shows_python() -> None:
    assert all(blocks(page, "python") for page in (ROOT / "docs/how_to").glob("*.md"))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_commands_of_a_page_exist(page: Path) -> None:
    for command in shown(page):
        words = [word for word in shlex.split(command) if not word.startswith("[")]
        app.parse_args(words, exit_on_error=False, print_error=False)


def test_commands_are_found_behind_launchers_and_in_branches() -> None:
    script = """
    # dcnbio in a comment
    torchrun --nnodes 2 \\
        -m dcnbio train --out $run
    .venv/bin/dcnbio probe --shard ${i}/10   # a part
        dcnbio info run.zarr
    pip install . && dcnbio probe
    """
    assert list(commands(script)) == ["train --out 1", "probe --shard 1/10", "info run.zarr", "probe"]


def test_scripts_that_pages_name_are_there() -> None:
    named = {name for page in WRITTEN for name in re.findall(r"\b(?:analyses|notebooks)/[\w/]+\.\w+", page.read_text())}
    assert "analyses/run_all.py" in named
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_an_unknown_option_is_found() -> None:
    with pytest.raises(Exception, match="no-such-option"):
        app.parse_args(["probe", "--no-such-option"], exit_on_error=False, print_error=False)
