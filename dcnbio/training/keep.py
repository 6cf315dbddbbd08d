"""Keeps the trained network with its header: recipe, figures, initial scales, source."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.decoder import Decoder
from dcnbio.model.decoder_checkpoint import save_decoder
from dcnbio.model.network import Network
from dcnbio.training.atomic_file import SaveError
from dcnbio.training.objective import Objective
from dcnbio.training.recipe import Recipe
from dcnbio.training.starting_point import StartingPoint

__all__ = ["Kept", "keep_network"]


@dataclass(frozen=True)
class Kept:
    """What a run's checkpoint tells beside its weights and figures.

    Attributes
    ----------
    recipe : Recipe
    start : StartingPoint
    facts : dict
        Images, command and whatever else belongs to the recipe's record.
    """

    recipe: Recipe
    start: StartingPoint
    facts: dict[str, Any] = field(default_factory=dict)


def keep_network(objective: Objective, kept: Kept, path: Path, metrics: dict[str, Any]) -> None:
    """Save the network (or decoder) that is trained as a checkpoint; one that is there is replaced as a whole.

    Raises
    ------
    SaveError
        If the disk is full.
    """
    begun = {"begun_from": kept.start.begun_from} if kept.start.begun_from else {}
    header: dict[str, Any] = {"recipe": {**kept.recipe.to_dict(), **kept.facts, **begun}, "metrics": metrics}
    module = objective.module
    try:
        if isinstance(module, Network):
            save_checkpoint(module, path, overwrite=True, initial_log2_sigma=kept.start.initial_log2_sigma, **header)
        elif isinstance(module, Decoder):
            save_decoder(module, path, overwrite=True, **header)
    except (InputError, OSError, SafetensorError) as error:
        raise SaveError(f"{path} cannot be written ({error}); make room and go on with --resume.") from error
