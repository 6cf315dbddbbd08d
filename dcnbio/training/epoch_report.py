"""The row of figures that each epoch leaves: loss and accuracy, or error; solver work, speed, held-out part, scales."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from dcnbio.model.decoder import Decoder
from dcnbio.model.device import double
from dcnbio.training.atomic_file import SaveError, replace_file
from dcnbio.training.divergence import scale_layers
from dcnbio.training.measure import Measured
from dcnbio.training.state import Progress

__all__ = ["epoch_row", "save_scales", "scale_columns", "sigma_by_layer"]


@torch.no_grad()
def scale_columns(module: nn.Module) -> dict[str, float]:
    """Give log2 sigma (at time 0) of each layer; its mean and standard deviation where there are many."""
    columns: dict[str, float] = {}
    for name, layer in scale_layers(module):
        values = double(layer.log2_sigma(torch.zeros(())))
        columns[f"log2_sigma/{name}"] = float(values.mean())
        if values.numel() > 1:
            columns[f"log2_sigma_sd/{name}"] = float(values.std())
    return columns


@torch.no_grad()
def sigma_by_layer(module: nn.Module) -> dict[str, float]:
    """Give sigma (at time 0, geometric mean), in pixels, of each layer."""
    return {name: float(layer.log2_sigma(torch.zeros(())).mean().exp2()) for name, layer in scale_layers(module)}


@torch.no_grad()
def save_scales(module: nn.Module, path: Path) -> None:
    """Keep log2 sigma of every filter in a .npz, one array per layer, where layers have more than one.

    Raises
    ------
    SaveError
        If the disk is full.
    """
    layers = {name: layer.log2_sigma(torch.zeros(())).cpu().numpy() for name, layer in scale_layers(module)}
    if any(values.size > 1 for values in layers.values()):
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise SaveError(f"{path.parent} cannot be made ({error.strerror}); make room for it.") from error
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **layers)
        replace_file(path, content.getvalue())


def finite(value: float) -> float | None:
    """Give a number, or None for what is none: an empty field of the table."""
    return value if math.isfinite(value) else None


def accuracy_columns(right: float, looks: tuple[Measured | None, Measured | None], loss: float) -> dict[str, Any]:
    """Give loss and accuracy of a classification; the gap is how much better the training solver makes it look."""
    reported, own = looks
    accuracy = None if reported is None else reported.accuracy
    own_accuracy = accuracy if own is None else own.accuracy
    return {
        "loss": loss,
        "accuracy": right,
        "held_out_accuracy": accuracy,
        "held_out_loss": None if reported is None else finite(reported.loss),
        "held_out_accuracy_training_solver": own_accuracy,
        "solver_gap": None if accuracy is None or own_accuracy is None else own_accuracy - accuracy,
    }


def error_columns(looks: tuple[Measured | None, Measured | None], loss: float) -> dict[str, Any]:
    """Give the mean square errors of a reconstruction, which has no accuracy; the gap is in their unit."""
    reported, own = looks
    error = None if reported is None else finite(reported.loss)
    own_error = error if own is None else finite(own.loss)
    return {
        "mse": loss,
        "held_out_mse": error,
        "held_out_mse_training_solver": own_error,
        "solver_gap": None if error is None or own_error is None else error - own_error,
    }


def epoch_row(
    progress: Progress,
    where: dict[str, Any],
    module: nn.Module,
    looks: tuple[Measured | None, Measured | None],
) -> dict[str, Any]:
    """Lay out a row.

    Parameters
    ----------
    progress : Progress
        With the epoch's sums.
    where : dict
        What leads the row: step, epoch, passes, learning rate, solver.
    module : nn.Module
        A network's row has loss and accuracy, a decoder's its mean square error in place of them.
    looks : tuple of Measured or None
        Held-out images with dopri5 at 1e-3, and with the training solver where that is another.
    """
    sums = progress.sums
    seen, steps = max(sums.get("seen", 0.0), 1.0), max(sums.get("steps", 0.0), 1.0)
    loss, reported = sums.get("loss", 0.0) / seen, looks[0]
    decoder = isinstance(module, Decoder)
    return {
        **where,
        "seconds": round(progress.seconds, 1),
        **(error_columns(looks, loss) if decoder else accuracy_columns(sums.get("right", 0.0) / seen, looks, loss)),
        **{name: value / steps for name, value in sorted(sums.items()) if name.startswith("nfe_")},
        "images_per_second": round(seen / max(sums.get("seconds", 0.0), 1e-9), 2),
        "held_out_n": 0 if reported is None else reported.n,
        "held_out_failed": 0 if reported is None else reported.failed,
        **scale_columns(module),
    }
