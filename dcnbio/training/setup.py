"""Makes what a recipe asks for: the network, the loss and the optimiser, as they are before the first step."""

from __future__ import annotations

import torch
from torch import nn

from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.encoder_match import ENCODER_WEIGHTS
from dcnbio.model.loading import load
from dcnbio.model.network import build
from dcnbio.model.weights import weights_id
from dcnbio.training.initial_scales import set_initial_sigma
from dcnbio.training.objective import Classification, Objective, Reconstruction
from dcnbio.training.recipe import Recipe
from dcnbio.training.recipe_parts import Optimisation

__all__ = ["integration_time", "make_objective", "make_optimiser"]

CONTROL_STREAM = 1 << 32  # apart from the seeds of the networks themselves


def make_objective(recipe: Recipe, classes: int, device: str) -> Objective:
    """Build what is trained, with its initial values.

    Examples
    --------
    >>> make_objective(Recipe(model="resnet-blocks"), 10, "cpu").module.spec.row
    'resnet-blocks'
    """
    dtype = torch.float64 if recipe.dtype == "float64" else torch.float32
    if recipe.task == "reconstruction":
        encoder = load(recipe.encoder)
        decoder = build_decoder(encoder.spec, recipe.seed).to(device, dtype)
        # of the weights as they were loaded: another type would give another hash
        decoder.source = {"encoder": recipe.encoder, ENCODER_WEIGHTS: weights_id(encoder.state_dict())}
        encoder.to(device, dtype).requires_grad_(False)
        return Reconstruction(decoder, encoder)
    net = build(recipe.model, recipe.seed, **recipe.network)
    if classes > net.spec.classes:
        raise InputError(f"the images have {classes} classes and the network {net.spec.classes}; set network.classes.")
    generator = torch.Generator().manual_seed(recipe.seed + CONTROL_STREAM)
    set_initial_sigma(net, recipe.initial_sigma, generator)
    return Classification(net.to(device, dtype), recipe.optimisation.label_smoothing)


def make_optimiser(module: nn.Module, chosen: Optimisation) -> torch.optim.SGD:
    """Make the optimiser; norms, biases and scales are not decayed."""
    trained = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    spared = [p for name, p in trained if "log2_sigma" in name or p.ndim == 1]
    decayed = [p for name, p in trained if not ("log2_sigma" in name or p.ndim == 1)]
    groups = [{"params": decayed, "weight_decay": float(chosen.weight_decay)}, {"params": spared, "weight_decay": 0.0}]
    return torch.optim.SGD(
        [group for group in groups if group["params"]],
        # whole numbers of more than 64 bits are none of torch's
        lr=float(chosen.learning_rate),
        momentum=float(chosen.momentum),
        nesterov=chosen.nesterov,
    )


def integration_time(objective: Objective) -> float:
    """Give the longest T of the blocks that are trained."""
    blocks = objective.module.get_submodule("blocks").children()
    return max(float(getattr(block, "integration_time", 1.0)) for block in blocks) or 1.0
