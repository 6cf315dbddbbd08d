"""Recipes as small TOML files, and single settings in place of theirs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.training.recipe import SECTIONS, Recipe, recipe_from_dict

__all__ = ["find_recipe", "read_recipe", "shipped_recipes", "with_settings"]

PACKAGE = Path(__file__).resolve().parents[1]


def recipes_folder() -> Path:
    """Give the folder of the recipes that come with dcnbio: inside an installed package, or in the repository.

    They lie beside the shipped data, not among them: the manifest of the data names every file in their folder.
    """
    inside = PACKAGE / "recipes"
    return inside if inside.is_dir() else PACKAGE.parent / "analyses" / "recipes"


def shipped_recipes() -> list[str]:
    """List the names of the recipes that come with dcnbio.

    Returns
    -------
    list of str

    Examples
    --------
    >>> {"paper", "budget"} <= set(shipped_recipes())
    True
    """
    return sorted(path.stem for path in recipes_folder().glob("*.toml"))


def find_recipe(name: str | Path) -> Path:
    """Turn a shipped recipe's name, or a file, into the path of a file.

    Parameters
    ----------
    name : str or Path
        A shipped name comes first, as it does of a checkpoint; ``./budget`` is a file in any case.

    Raises
    ------
    InputError
        If there is neither.

    Examples
    --------
    >>> find_recipe("budget").name
    'budget.toml'
    """
    if str(name) in shipped_recipes():
        return recipes_folder() / f"{name}.toml"
    if not Path(name).exists():
        raise InputError(
            f"recipe is {str(name)!r}: there is no such file, and the shipped ones are {', '.join(shipped_recipes())}."
        )
    return Path(name)


def read_recipe(name: str | Path) -> Recipe:
    """Read a recipe; settings that the file leaves out have the paper's values.

    Parameters
    ----------
    name : str or Path
        A shipped name, see `shipped_recipes`, or a .toml file.

    Returns
    -------
    Recipe

    Raises
    ------
    InputError
        If there is no such recipe, or it cannot be read, or has an unknown setting or a value that is not allowed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mine.toml").write_text("optimisation.epochs = 20")
    ...     recipe = read_recipe(Path(folder, "mine.toml"))
    >>> recipe.optimisation.epochs, recipe.optimisation.momentum
    (20, 0.9)
    """
    path = find_recipe(name)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"recipe {path} cannot be read ({error}); give a .toml file, or a name: {', '.join(shipped_recipes())}."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"recipe {path} is no TOML: {error}.") from error
    return checked(values)


def checked(values: Mapping[str, Any]) -> Recipe:
    """Make a recipe of plain values whose parts have the shape that TOML gives them."""
    for name in (*SECTIONS, "network"):
        if not isinstance(values.get(name, {}), Mapping):
            raise InputError(f"{name} is {values[name]!r}, but it has parts; set them as {name}.NAME = VALUE.")
    phases = values.get("phases", [])
    if not isinstance(phases, list) or not all(isinstance(phase, Mapping) for phase in phases):
        raise InputError(f'phases is {phases!r}; give a list of tables, such as phases=[{{gradient="exact"}}].')
    return recipe_from_dict(values)


def place(name: str) -> tuple[str, ...]:
    """Find a setting by its name alone or with its section before it."""
    section, _, rest = name.partition(".")
    if rest:
        return section, rest
    if name in {item.name for item in fields(Recipe)} - set(SECTIONS):
        return (name,)
    found = [(s, name) for s, kind in SECTIONS.items() if name in {item.name for item in fields(kind)}]
    if not found:
        raise InputError(f"a recipe has no setting {name!r}; give names such as seed, learning_rate or data.per_class.")
    return found[0]


def value_of(text: str) -> Any:
    """Read a value as TOML writes it; a bare word is a string, and none is None."""
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def with_settings(recipe: Recipe, settings: Iterable[str]) -> Recipe:
    """Give a recipe with other settings, each "name=value" or "section.name=value".

    Phases are replaced as a whole: ``phases=[{until=0.5, method="midpoint", steps=2, gradient="exact"}, {}]``.

    Parameters
    ----------
    recipe : Recipe
    settings : iterable of str
        "name=value", the value as TOML writes it; later ones win.

    Returns
    -------
    Recipe

    Raises
    ------
    InputError
        If a setting does not exist or has a value that is not allowed.

    Examples
    --------
    >>> recipe = with_settings(Recipe(), ["seed=3", "epochs=1", "network.widths=[8, 16]", "per_class=none"])
    >>> recipe.seed, recipe.optimisation.epochs, recipe.network, recipe.data.per_class
    (3, 1, {'widths': [8, 16]}, None)
    """
    values = recipe.to_dict()
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"setting {setting!r} has no value; write name=value, such as learning_rate=0.05.")
        at = place(name.strip())
        inside = values if len(at) == 1 else values.setdefault(at[0], {})
        if not isinstance(inside, dict):
            raise InputError(f"setting {name!r} is inside {at[0]}, which has no parts; replace it as a whole.")
        inside[at[-1]] = value_of(text.strip())
    return checked(values)
