"""Keeps the trained network with its header: recipe, figures, initial scales, source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.decoder import Decoder
from dcnbio.model.decoder_checkpoint import save_decoder
from dcnbio.model.network import Network
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.training.atomic_file import SaveError
from dcnbio.training.objective import Objective
from dcnbio.training.recipe import Recipe
from dcnbio.training.setup import make_objective

__all__ = ["keep_network"]


def initial_scales(recipe: Recipe, net: Network) -> dict[str, list[float]]:
    """Draw the initial scales once more; they follow from the seed."""
    first = make_objective(recipe, net.spec.classes, "cpu").module
    return initial_log2_sigma(first) if isinstance(first, Network) else {}


def keep_network(objective: Objective, recipe: Recipe, path: Path, metrics: dict[str, Any], **facts: Any) -> None:
    """Save the network (or decoder) that is trained as a checkpoint; one that is there is replaced as a whole.

    Raises
    ------
    SaveError
        If the disk is full.
    """
    header: dict[str, Any] = {"recipe": {**recipe.to_dict(), **facts}, "metrics": metrics}
    module = objective.module
    try:
        if isinstance(module, Network):
            save_checkpoint(module, path, overwrite=True, initial_log2_sigma=initial_scales(recipe, module), **header)
        elif isinstance(module, Decoder):
            save_decoder(module, path, overwrite=True, **header)
    except (InputError, OSError, SafetensorError) as error:
        raise SaveError(f"{path} cannot be written ({error}); make room and go on with --resume.") from error
