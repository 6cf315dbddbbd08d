"""What is known of a run before it steps: the recipe to go on with, and whether anything is left to do."""

from __future__ import annotations

from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.loading import find_checkpoint
from dcnbio.training.recipe import Recipe
from dcnbio.training.run_folder import RunFolder
from dcnbio.training.run_options import RunOptions

__all__ = ["chosen_recipe", "finished_figures", "refuse_to_remove_own"]


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

    Raises
    ------
    InputError
        If there is no state to go on with, but what the run left shows that there had been one: to begin anew in
        silence would remove it.
    """
    if not options.resume or folder.state.exists():
        return None
    facts = folder.read_record()[1]
    if facts.get("finished") and folder.checkpoint.exists():
        figures: dict[str, Any] = facts["metrics"]
        return figures
    # the state is saved after each epoch's row, so that only the first row can be there without one
    if facts.get("finished") or epochs_told(folder) > 1:
        gone = folder.checkpoint if facts.get("finished") else folder.state
        raise InputError(
            f"the run in {folder.path} had come further than its files: {gone.name} is no longer there; put it back, "
            "or begin anew, in another folder or with overwrite (--overwrite)."
        )
    return None


def epochs_told(folder: RunFolder) -> int:
    """Count the rows of a run's metrics, damaged ones as well."""
    if not folder.metrics.exists():
        return 0
    return len(folder.metrics.read_text(encoding="utf-8", errors="replace").splitlines()) - 1


def refuse_to_remove_own(recipe: Recipe, folder: RunFolder, options: RunOptions) -> None:
    """Refuse to begin anew in the place of the network that the recipe begins with or decodes.

    Raises
    ------
    InputError
    """
    for name in (recipe.start, recipe.encoder):
        if name and options.overwrite:
            folder.refuse_own(find_checkpoint(name))
