"""The pages that are made from the code name every command, every public name and every notebook."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import sys
from pathlib import Path

import pytest

import dcnbio

ROOT = Path(__file__).parents[2]

pytest.importorskip("sphinx", reason="the site's own requirements are not installed: pip install -e '.[docs]'")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _site_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs/extensions"))
    for name in ("command_page", "api_pages", "generated_pages", "offline_math", "readable_docstrings"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_commands_are_all_there() -> None:
    from command_page import command_page

    from dcnbio.commands.app import app

    text = command_page()
    names = [name for name in app if not name.startswith("-")]
    assert "probe" in names
    assert all(f"\n## dcnbio {name}\n" in text for name in names)
    assert "`--stepping CHOICE`" in text


def test_every_option_says_what_it_is() -> None:
    from command_page import command_page

    options = re.findall(r"^\* (`--?\w.*)$", command_page(), re.MULTILINE)
    assert len(options) > 100
    assert not [line for line in options if not re.match(r"`[^`]+`(, `[^`]+`)*: \w", line)]


def test_public_names_are_all_there() -> None:
    from api_pages import api_pages

    made = api_pages()
    assert all(f"`dcnbio.{name} <" in made["dcnbio"] for name in dcnbio.__all__ if name != "__version__")
    for room in ("images", "recording", "training", "figures", "report", "probe"):
        module = sys.modules[f"dcnbio.{room}"]
        assert all(f":: dcnbio.{room}.{name}\n" in made[room] for name in module.__all__)


def examples() -> list[str]:
    """Give the Python that readers are shown: of the pages, the README and the notebooks."""
    pages = [ROOT / "README.md", *(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts)]
    shown = [re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S) for page in pages]
    notebooks = [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.py")]
    return [*itertools.chain.from_iterable(shown), *notebooks]


def test_what_examples_import_is_documented() -> None:
    from api_pages import api_pages

    listed = re.findall(r"^\.\. (?:autofunction|autoclass|py:data):: (\S+)", "\n".join(api_pages().values()), re.M)
    documented = {id(getattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2])) for name in listed}
    imports = [node for text in examples() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    names = {(node.module, one.name) for node in imports if node.module.startswith("dcnbio.") for one in node.names}
    assert len(names) > 20
    assert not [name for name in names if id(getattr(importlib.import_module(name[0]), name[1])) not in documented]


def test_notebooks_are_in_the_tutorial() -> None:
    from generated_pages import pages

    listed = (ROOT / "docs/tutorial/index.md").read_text(encoding="utf-8")
    notebooks = [name for name in pages(ROOT) if name.startswith("notebooks/")]
    assert notebooks
    assert all(f"../generated/{name.removesuffix('.ipynb')}\n" in listed for name in notebooks)


def test_signs_in_docstrings_stay_signs() -> None:
    from readable_docstrings import readable

    assert readable(["rtol * |h|, see [1]_ and ``a * b``"]) == [r"rtol \* \|h\|, see [1] and ``a * b``"]
    assert readable([".. [1] Somebody, doi:1."]) == ["", "[1] Somebody, doi:1."]
    assert readable([".. [1] Somebody,", "   doi:1.", "", "   x"]) == ["", "[1] Somebody,", "doi:1.", "", "   x"]
    assert readable([">>> 2 * 3 | 1", "7"]) == [">>> 2 * 3 | 1", "7"]


def test_equations_need_no_script() -> None:
    from offline_math import mathml

    found = mathml(r"\frac{dh}{dt} = f(h)", inline=False)
    assert found.startswith("<math")
    assert "<mfrac>" in found
