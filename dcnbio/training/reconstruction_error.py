"""A decoder's error on images it was not trained on: with its interval, and in the unit of the paper's table 3."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from dcnbio.model.decoder import centre, rescaled
from dcnbio.model.device import double
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.training.images import LabelledImages
from dcnbio.training.measure import Measured, Z, measure
from dcnbio.training.objective import Outcome, Reconstruction
from dcnbio.training.processes import Processes

__all__ = ["ErrorSums", "measure_reconstruction"]


@dataclass
class ErrorSums:
    """A reconstruction that adds up, beside its loss, what interval and table 3 need.

    Attributes
    ----------
    objective : Reconstruction
    sums : Tensor, shape (4,), float64
        Of the images' mean square errors, of their squares, of the batches' rescaled errors, of batches.
    """

    objective: Reconstruction
    sums: Tensor = field(default_factory=lambda: torch.zeros(4, dtype=torch.float64))

    @property
    def module(self) -> nn.Module:
        """The decoder."""
        return self.objective.module

    def __call__(self, images: Tensor, labels: Tensor, solver: SolverSettings) -> Outcome:
        """Pass a batch through with a solver."""
        image, blocks = self.objective.reconstruct(images, solver)
        wanted = centre(images)
        errors = double((image - wanted).square().mean((1, 2, 3)))
        of_batch = double((rescaled(image) - wanted).square().mean())
        self.sums += torch.stack([errors.sum(), errors.square().sum(), of_batch, torch.ones_like(of_batch)]).cpu()
        return Outcome(errors.sum(), 0, blocks)


@torch.no_grad()
def measure_reconstruction(
    objective: Reconstruction, images: LabelledImages, processes: Processes
) -> tuple[Measured, dict[str, Any]]:
    """Measure a decoder with dopri5 at 1e-3, in batches of 100.

    Parameters
    ----------
    objective : Reconstruction
    images : LabelledImages
    processes : Processes

    Returns
    -------
    Measured
        Its loss is the mean square error, RGB in [0, 1].
    dict
        `mse_interval`: normal 95 % limits of the mean over images; `rescaled_mse`: the mean over `batches` of the error
        of the output rescaled by its batch's extremes, of which table 3 probably prints 1,000 times. A value that does
        not exist (one image alone, or one that could not be solved) is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from dcnbio.model.decoder import build_decoder
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    >>> two = LabelledImages(np.arange(6144, dtype=np.uint8).reshape(2, 3, 32, 32), np.array([0, 1]))
    >>> found, more = measure_reconstruction(Reconstruction(build_decoder(net.spec), net), two, Processes())
    >>> found.n, sorted(more)
    (2, ['batches', 'mse_interval', 'rescaled_mse'])
    """
    counted = ErrorSums(objective)
    found = measure(counted, images, processes)
    total, squares, of_batches, batches = processes.total(counted.sums).tolist()
    more: dict[str, Any] = {"batches": int(batches)}
    if found.n > 1 and math.isfinite(total):
        mean = total / found.n
        half = Z * math.sqrt(max(squares - found.n * mean * mean, 0.0) / (found.n - 1) / found.n)
        more["mse_interval"] = [mean - half, mean + half]
    if math.isfinite(of_batches):
        more["rescaled_mse"] = of_batches / batches
    return found, more
