"""What is trained, and on what loss: the network's classes, or a decoder's image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from dcnbio.model.decoder import Decoder, centre, encode
from dcnbio.model.network import Network
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["Classification", "Objective", "Outcome", "Reconstruction"]


@dataclass(frozen=True)
class Outcome:
    """What one batch gave.

    Attributes
    ----------
    loss : Tensor, scalar
        Sum over images.
    right : int
        Images that were classified rightly; 0 in reconstruction, which has no accuracy: nothing shows one there.
    blocks : tuple of Solution
        Of the blocks that are trained.
    """

    loss: Tensor
    right: int
    blocks: tuple[Solution, ...]


class Objective(Protocol):
    """A module to train and its loss."""

    @property
    def module(self) -> nn.Module:
        """What is trained."""

    def __call__(self, images: Tensor, labels: Tensor, solver: SolverSettings) -> Outcome:
        """Pass a batch through with a solver."""


@dataclass(frozen=True)
class Classification:
    """Cross-entropy of a network's logits.

    Attributes
    ----------
    module : Network
    label_smoothing : float
    """

    module: Network
    label_smoothing: float = 0.0

    def __call__(self, images: Tensor, labels: Tensor, solver: SolverSettings) -> Outcome:
        """Pass a batch through with a solver."""
        run = self.module.run(images, solver)
        loss = functional.cross_entropy(run.logits, labels, reduction="sum", label_smoothing=self.label_smoothing)
        # the answer to an image that could not be solved is NaN, and wrong
        solved = torch.isfinite(run.logits.detach()).all(1)
        return Outcome(loss, int(((run.logits.argmax(1) == labels) & solved).sum()), run.blocks)


@dataclass(frozen=True)
class Reconstruction:
    """Mean square error of a decoder's image, on a trained network that stays as it is.

    Attributes
    ----------
    module : Decoder
    encoder : Network
        Solved with its own solver, dopri5 at 1e-3.
    """

    module: Decoder
    encoder: Network

    def reconstruct(self, images: Tensor, solver: SolverSettings) -> tuple[Tensor, tuple[Solution, ...]]:
        """Give the images that the decoder makes of a batch's maps, and what its blocks did with a solver."""
        # where several processes share a batch, its steps are those of all of its images here too
        self.encoder.solver = replace(self.encoder.solver, reduce=solver.reduce)
        with torch.no_grad():
            maps = encode(self.encoder, images)
        self.module.solver = solver
        return self.module.run(maps)

    def __call__(self, images: Tensor, labels: Tensor, solver: SolverSettings) -> Outcome:
        """Pass a batch through with a solver; the loss is the sum over images of their mean square error."""
        image, blocks = self.reconstruct(images, solver)
        return Outcome((image - centre(images)).square().mean((1, 2, 3)).sum(), 0, blocks)
