"""What is known of a run before it steps: the recipe to go on with, and whether anything is left to do."""

from __future__ import annotations

from typing import Any

from dcnbio.errors import InputError
from dcnbio.training.recipe import Recipe
from dcnbio.training.run_folder import RunFolder
from dcnbio.training.run_options import RunOptions

__all__ = ["chosen_recipe", "finished_figures"]


def chosen_recipe(recipe: Recipe | None, folder: RunFolder, options: RunOptions, ids: dict[str, str]) -> Recipe:
    """Give the recipe of the run that begins, or of the one that goes on.

    Raises
    ------
    InputError
        If there is nothing to go on with, or it had another recipe or other images.
    """
    if not options.resume:
        return recipe or Recipe()
    before, facts = folder.read_record()
    if recipe is not None and recipe != before:
        new, old = recipe.to_dict(), before.to_dict()
        different = [name for name in old if new[name] != old[name]]
        raise InputError(
            f"the run in {folder.path} has another recipe ({', '.join(different)} differ); leave the recipe's options "
            "out to go on with it, or begin in another folder."
        )
    told = facts.get("images") or {}
    # records of earlier versions do not tell the labels
    if told != {name: value for name, value in ids.items() if name in told or not name.endswith("_labels")}:
        known = facts.get("images", "not recorded")
        raise InputError(f"the run in {folder.path} was begun with other images ({known}); give the same.")
    return before


def finished_figures(folder: RunFolder, options: RunOptions) -> dict[str, Any] | None:
    """Give the figures of a run that is to go on but has come to its end; None where there is something left to do.

    Its state is gone by then, so that going on would be to begin anew in the place of what is finished.
    """
    if not options.resume or folder.state.exists():
        return None
    facts = folder.read_record()[1]
    if not facts.get("finished") or not folder.checkpoint.exists():
        return None
    figures: dict[str, Any] = facts["metrics"]
    return figures
