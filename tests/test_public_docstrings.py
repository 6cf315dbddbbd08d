"""Every name a person imports says what it takes, what it gives, and shows a running example."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dcnbio

ROOMS = ("images", "model", "probe", "recording", "analysis", "training", "figures", "report")
SUBMODULES_OF = ("dcnbio.model.loading", "dcnbio.recording.reductions", "dcnbio.analysis.result_file")
NUMPYDOC_SECTION = r"^{}\n-+$"


def packages() -> list[str]:
    """List the front door, the rooms, and the rooms' own public packages."""
    found = ["dcnbio", *(f"dcnbio.{room}" for room in ROOMS), *SUBMODULES_OF]
    analysis = importlib.import_module("dcnbio.analysis")
    found += [f"dcnbio.analysis.{one.name}" for one in pkgutil.iter_modules(analysis.__path__) if one.ispkg]
    return sorted(set(found))


def public_names() -> Iterator[tuple[str, str]]:
    """List the public functions and classes, each once, by the module it is imported from."""
    seen = set()
    for package in packages():
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if name == "probe" and package == "dcnbio":
                continue  # the room itself, which is a verb too
            if (inspect.isfunction(value) or inspect.isclass(value)) and value not in seen:
                seen.add(value)
                yield package, name


def has_section(text: str, title: str) -> bool:
    return re.search(NUMPYDOC_SECTION.format(title), text, re.MULTILINE) is not None


def takes_something(value: Callable[..., Any]) -> bool:
    try:
        return bool([name for name in inspect.signature(value).parameters if name not in ("args", "kwargs")])
    except ValueError:
        return False


def lacking(value: Any) -> list[str]:
    """Name the sections a docstring should have and has not."""
    text = inspect.cleandoc(value.__doc__ or "")
    if not text:
        return ["docstring"]
    missing = []
    if takes_something(value) and not any(has_section(text, title) for title in ("Parameters", "Attributes")):
        missing.append("Parameters")
    if inspect.isfunction(value):
        gives = inspect.signature(value).return_annotation
        if gives not in ("None", None, inspect.Signature.empty) and not (
            has_section(text, "Returns") or has_section(text, "Yields")
        ):
            missing.append("Returns")
    if not (has_section(text, "Examples") and ">>>" in text):
        missing.append("Examples")
    if raises_itself(value) and not has_section(text, "Raises"):
        missing.append("Raises")
    return missing


def raises_itself(value: Any) -> bool:
    """Say whether a function, or the making or calling of an object, raises an error of its own."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    parts = [tree]
    if isinstance(tree, ast.ClassDef):
        made = ("__init__", "__post_init__", "forward")
        parts = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name in made]
    return any(isinstance(node, ast.Raise) and node.exc is not None for part in parts for node in ast.walk(part))


@pytest.mark.parametrize(("package", "name"), list(public_names()))
def test_says_what_it_takes_and_gives(package: str, name: str) -> None:
    value = getattr(importlib.import_module(package), name)
    assert lacking(value) == [], f"{package}.{name} lacks these sections"


def test_finds_what_is_missing() -> None:
    def bare(x: int) -> int:
        """Give x."""
        return x

    def refusing() -> None:
        """Refuse."""
        raise ValueError("no")

    assert lacking(bare) == ["Parameters", "Returns", "Examples"]
    assert lacking(refusing) == ["Examples", "Raises"]


def test_front_door_is_covered() -> None:
    names = {name for package, name in public_names() if package == "dcnbio"}
    assert {"load", "load_images", "build", "features", "open", "save"} <= names
    assert set(dcnbio.__all__) - names == {"ROWS", "__version__", "probe"}
