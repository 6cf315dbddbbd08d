"""Where a run's weights begin: drawn anew from the seed, or those of a network that is trained already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import Header, read_header
from dcnbio.model.loading import find_checkpoint, load
from dcnbio.model.network import Network
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.model.weights import weights_id
from dcnbio.training.objective import Objective
from dcnbio.training.recipe import Recipe
from dcnbio.training.recipe_differences import differences, recorded_recipe

__all__ = ["StartingPoint", "starting_point"]

TOLD = ("seed", "passes", "minutes", "held_out_accuracy")


@dataclass(frozen=True)
class StartingPoint:
    """What a run began with.

    Attributes
    ----------
    begun_from : dict
        Of the network that it goes on from: file, weights (their hash), seed, passes and minutes that were spent on
        it, held-out accuracy, recipe (what of it is not the paper's) and command, as far as its header tells, and
        the same of what that had gone on from; empty where all values were drawn.
    initial_log2_sigma : dict of str to list of float
        log2 sigma of each SRF layer before any training, that of the former network included.
    """

    begun_from: dict[str, Any] = field(default_factory=dict)
    initial_log2_sigma: dict[str, Any] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Give what run.json holds: nothing where all values were drawn, for they follow from the seed."""
        return {"start": vars(self)} if self.begun_from else {}


def told(header: Header, name: str, weights: str) -> dict[str, Any]:
    """Take from a header what is said of the network that a run goes on from."""
    facts = {"file": name, "weights": weights, **{key: header.metrics[key] for key in TOLD if key in header.metrics}}
    recipe = recorded_recipe(header.recipe)
    if recipe is not None:
        facts["recipe"] = differences(recipe)
    return {**facts, **{key: header.recipe[key] for key in ("command", "begun_from") if header.recipe.get(key)}}


def starting_point(
    recipe: Recipe, objective: Objective, record: Mapping[str, Any], saved: bool = False
) -> StartingPoint:
    """Put the weights that the recipe's `start` names into a fresh network, and say what they were.

    Parameters
    ----------
    recipe : Recipe
    objective : Objective
        With freshly drawn values; its module is changed in place where the recipe names a network to go on from.
    record : mapping
        The other facts of run.json where the run goes on, else empty.
    saved : bool
        Whether a state will be loaded after this; the file is not needed then.

    Returns
    -------
    StartingPoint

    Raises
    ------
    InputError
        If that network is of another row or has other settings, or if its weights are others than those that the run
        was begun with.
    CheckpointError
        If it cannot be read.

    Examples
    --------
    >>> from dcnbio.training.setup import make_objective
    >>> recipe = Recipe(start="dcn-ode")
    >>> objective = make_objective(recipe, 10, "cpu")
    >>> begun = starting_point(recipe, objective, {})
    >>> begun.begun_from["file"], begun.begun_from["weights"] == weights_id(objective.module.state_dict())
    ('dcn-ode', True)
    """
    module = objective.module
    if not isinstance(module, Network):
        return StartingPoint()
    if not recipe.start:
        return StartingPoint({}, initial_log2_sigma(module))
    before = record.get("start", {})
    if saved:
        return StartingPoint(**before)
    found, path = load(recipe.start), find_checkpoint(recipe.start)
    refuse_another_network(found, module, recipe.start)
    weights = weights_id(found.state_dict())
    if before and before["begun_from"]["weights"] != weights:
        raise InputError(
            f"the run was begun with the weights {before['begun_from']['weights']} of {recipe.start}, which now has "
            f"{weights}; put the former file back, or begin anew, in another folder or with overwrite (--overwrite)."
        )
    module.load_state_dict(found.state_dict())
    header = read_header(path) if path.suffix == ".safetensors" else Header(spec={})
    return StartingPoint(told(header, recipe.start, weights), header.initial_log2_sigma)


def refuse_another_network(found: Network, wanted: Network, name: str) -> None:
    """Refuse to go on from a network that is built in another way."""
    ours, theirs = vars(wanted.spec), vars(found.spec)
    different = [f"{key} {theirs[key]!r}, not {ours[key]!r}" for key in ours if theirs.get(key) != ours[key]]
    if different:
        raise InputError(
            f"start is {name}, which differs from the network to be trained ({'; '.join(different)}); set model and "
            "network to what it has, or start from another."
        )
