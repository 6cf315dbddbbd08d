"""What the code imports is what installing it brings: every package that is named in an import is a requirement."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
BY_NAME = ("importorskip", "import_module")
# tests of the site and of clusters are skipped where these are not there
FOLDERS = {"dcnbio": (), "analyses": (), "notebooks": ("notebook",), "docs": ("docs",), "tests": ("test", "docs")}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(extras: tuple[str, ...]) -> set[str]:
    """Give the distributions that the project and these extras require."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    return {normal(re.match(r"[\w.-]+", line)[0]) for line in lines}


def imported(source: str) -> Iterator[str]:
    """List the top names of the absolute imports of a source, also those by a name in quotes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in BY_NAME and isinstance(node.args[0].value, str):
                yield node.args[0].value.partition(".")[0]


def own_names() -> set[str]:
    """Give the names of modules that lie in the repository."""
    scripts = [*(ROOT / "analyses").glob("*.py"), *(ROOT / "docs/extensions").glob("*.py")]
    return {"dcnbio", "conftest", *(path.stem for path in scripts)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_import_is_a_requirement(folder: str) -> None:
    known, distributions = own_names() | set(sys.stdlib_module_names), packages_distributions()
    allowed = required(FOLDERS[folder])
    missing: dict[str, set[str]] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for name in set(imported(path.read_text(encoding="utf-8"))) - known:
            if not {normal(one) for one in distributions.get(name, [name])} & allowed:
                missing.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    assert not missing


def test_an_import_is_seen_wherever_it_stands() -> None:
    source = (
        "import numpy.linalg as la, os\ndef f():\n    from PIL import Image\n"
        "    from . import near\n    pytest.importorskip('dask.array')\n"
    )
    assert sorted(imported(source)) == ["PIL", "dask", "numpy", "os"]


def test_requirements_are_read_without_their_limits() -> None:
    assert {"torch", "google-crc32c"} <= required(())
    assert "dask" in required(("test",)) - required(())


def test_the_lowest_version_of_every_requirement_is_what_the_check_of_floors_installs() -> None:
    lowest = runpy.run_path(str(ROOT / ".ci/floors.py"))["lowest"]
    found = dict(pin.split("==") for pin in lowest(None))
    assert set(map(normal, found)) == required(("dask",))
    assert [found[name] for name in ("torch", "numpy", "cyclopts", "matplotlib")] == ["2.7", "2.2", "4", "3.10"]
    assert "torch==2.13.0" in lowest("2.13.0")


def test_a_requirement_without_a_lowest_version_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"'numpy<3' of pyproject\.toml names no lowest version as NAME>=VERSION\."):
        runpy.run_path(str(ROOT / ".ci/floors.py"))["floors"](["numpy<3"])
