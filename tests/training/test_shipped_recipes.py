"""Recipes go by their names, in a clone and where a wheel was installed, which has no folder of analyses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dcnbio.images.manifest import build_manifest
from dcnbio.training import read_recipe
from dcnbio.training.recipe_file import find_recipe, shipped_recipes

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "analyses" / "recipes").glob("*.toml"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A package as the wheel lays it out, with what pyproject.toml puts into it from elsewhere."""
    site = tmp_path_factory.mktemp("site")
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, place in [*((name, name) for name in wheel["packages"]), *wheel["force-include"].items()]:
        shutil.copytree(ROOT / source, site / place, copy_function=copied, dirs_exist_ok=True)
    return site


def copied(source, place):
    """Link what is large, and copy modules, which know where they lie."""
    return shutil.copy(source, place) if source.endswith(".py") else os.symlink(source, place)


def in_wheel(site, code):
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=site,
        env=os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip(), ran.stderr


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_by_its_name_is_that_of_its_file(path):
    assert read_recipe(path.stem) == read_recipe(path)


def test_recipes_by_name_are_where_a_wheel_was_installed(installed):
    code = (
        "import dcnbio; from dcnbio.training.recipe_file import find_recipe, shipped_recipes; "
        "print(dcnbio.__file__, find_recipe('budget'), ','.join(shipped_recipes()))"
    )
    said, wrong = in_wheel(installed, code)
    package = installed / "dcnbio"
    names = ",".join(path.stem for path in RECIPES)
    assert said == f"{package}/__init__.py {package}/recipes/budget.toml {names}", wrong


def test_the_manifest_names_every_file_of_the_data_there_too(installed):
    shipped = installed / "dcnbio" / "shipped"
    assert json.loads((shipped / "MANIFEST.json").read_text()) == build_manifest(shipped)


def test_a_name_that_is_none_lists_the_shipped_ones_there_too(installed):
    code = (
        "import sys; from dcnbio.commands.app import run; "
        "sys.exit(run(['train', '--recipe', 'analyses/recipes/budget.toml', '--images', 'a', '--out', 'b']))"
    )
    _, said = in_wheel(installed, code)
    assert f"there is no such file, and the shipped ones are {', '.join(shipped_recipes())}." in " ".join(said.split())


def test_a_file_of_a_shipped_name_is_meant_by_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("budget").write_text("seed = 7")
    assert read_recipe("./budget").seed == 7
    assert find_recipe("budget").parent.name == "recipes"
