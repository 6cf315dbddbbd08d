"""One step of training: draw the batch, pass it through, carry the gradient back, move the weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dcnbio.errors import SolverError
from dcnbio.model.convolution_precision import convolutions_in
from dcnbio.model.dormand_prince import STAGES
from dcnbio.model.solution import Work
from dcnbio.training.augmentation import augmented, draw_moves
from dcnbio.training.divergence import check_gradient, check_loss, check_scales, hold_scales, solved_back
from dcnbio.training.images import LabelledImages
from dcnbio.training.objective import Objective, Outcome
from dcnbio.training.processes import Processes
from dcnbio.training.recipe import Recipe
from dcnbio.training.recipe_parts import Phase
from dcnbio.training.schedule import Plan, learning_rate, phase_solver
from dcnbio.training.setup import integration_time

__all__ = ["StepReport", "Trainer"]

# the streams of random numbers that one seed gives rise to; subsets have 1 and 2
ORDER, MOVES, SOLVER = 3, 4, 5


@dataclass(frozen=True)
class StepReport:
    """What one step gave, over all processes.

    Attributes
    ----------
    loss, right, seen : float
        Sum of the losses, images classified rightly, images.
    nfe : tuple of int
        Function evaluations forward, in each block.
    nfe_backward : int
        Evaluations carried back, in all blocks.
    """

    loss: float
    right: float
    seen: float
    nfe: tuple[int, ...]
    nfe_backward: int


@lru_cache(maxsize=2)
def epoch_order(seed: int, epoch: int, images: int) -> NDArray[np.int64]:
    """Give the order of the images in an epoch."""
    return np.random.default_rng([seed, ORDER, epoch]).permutation(images)


def evaluations_back(work: Work, exact: bool) -> int:
    """Count the evaluations that the backward pass of a block took."""
    if work.backward_nfe is not None:
        return work.backward_nfe()
    nfe, accepted, rejected = int(work.nfe[0]), int(work.accepted[0]), int(work.rejected[0])
    adaptive = nfe - 2 == STAGES * (accepted + rejected)
    return 0 if not exact or not accepted else STAGES * accepted if adaptive else nfe


@dataclass(frozen=True, eq=False)
class Trainer:
    """What a step needs; every draw depends on seed and step alone, so that a run can go on anywhere.

    Attributes
    ----------
    recipe : Recipe
    plan : Plan
    images : LabelledImages
        To train on.
    objective : Objective
    optimiser : torch.optim.SGD
    processes : Processes
    """

    recipe: Recipe
    plan: Plan
    images: LabelledImages
    objective: Objective
    optimiser: torch.optim.SGD
    processes: Processes

    @cached_property
    def parameters(self) -> list[nn.Parameter]:
        """What is trained."""
        return [p for p in self.objective.module.parameters() if p.requires_grad]

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """Give this process' images and labels of a step."""
        epoch, place = divmod(step, self.plan.steps_per_epoch)
        order = epoch_order(self.recipe.seed, epoch, len(self.images))
        size, data = self.plan.batch_size, self.recipe.data
        positions = order[place * size : (place + 1) * size][: self.plan.images_in(step)]
        generator = np.random.default_rng([self.recipe.seed, MOVES, step])
        moves = draw_moves(len(positions), data.translate, data.flip, generator, data.still)
        own = self.processes.share(len(positions))
        chosen = self.images.at(positions[own])
        mine = (moves[0][own], moves[1][own], moves[2][own])
        moved = LabelledImages(augmented(chosen.images, mine, data.border), chosen.labels)
        return moved.tensors(self.parameters[0].dtype, self.processes.device)

    def forward(self, step: int, phase: Phase) -> Outcome:
        """Pass a step's batch through the network with the phase's solver."""
        generator = np.random.default_rng([self.recipe.seed, SOLVER, step])
        solver = phase_solver(phase, integration_time(self.objective), generator)
        if self.processes.count > 1:
            solver = replace(solver, reduce=self.processes.total)
        precision = None if phase.convolutions == "float32" else torch.bfloat16
        with convolutions_in(precision):
            return self.objective(*self.batch(step), solver)

    def step(self, step: int, phase: Phase) -> StepReport:
        """Do one step.

        Raises
        ------
        DivergenceError
            If loss, gradient or a scale is not what it should be; the weights may have moved by then.
        """
        epoch = step // self.plan.steps_per_epoch + 1
        self.optimiser.zero_grad(set_to_none=True)
        outcome = self.forward(step, phase)
        sums = torch.tensor([float(outcome.loss.detach()), float(outcome.right)], dtype=torch.float64)
        loss, right = self.processes.total(sums).tolist()
        check_loss(loss, outcome.blocks, epoch)
        try:
            (outcome.loss / self.plan.images_in(step)).backward()  # type: ignore[no-untyped-call]
        except SolverError as error:
            raise solved_back(outcome.blocks, error, epoch) from None
        self.update(step, epoch)
        nfe = tuple(int(block.work.nfe[0]) for block in outcome.blocks)
        back = sum(evaluations_back(block.work, phase.gradient == "exact") for block in outcome.blocks)
        return StepReport(loss, right, self.plan.images_in(step), nfe, back)

    def update(self, step: int, epoch: int) -> None:
        """Move the weights along the gradient of all processes."""
        guards, module = self.recipe.guards, self.objective.module
        self.processes.add_gradients(self.parameters)
        most = float("inf") if guards.clip_norm is None else float(guards.clip_norm)
        check_gradient(torch.nn.utils.clip_grad_norm_(self.parameters, most), module, epoch)
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(step, self.plan, self.recipe.optimisation)
        self.optimiser.step()
        hold_scales(module, guards.sigma_ceiling)
        check_scales(module, guards, epoch)
