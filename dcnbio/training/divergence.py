"""Sees a run go wrong and says where: loss, gradients, solver, weights, scales."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dcnbio.errors import DcnbioError, SolverError
from dcnbio.model.solution import Solution
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.status import Status, explain
from dcnbio.training.recipe_parts import Guards

__all__ = ["DivergenceError", "check_gradient", "check_loss", "check_scales", "hold_scales", "solved_back"]

WEIGHT_MOST = 1e6  # a weight beyond it is of a network that has exploded, though its loss may still be finite
TIMES = (0.0, 1.0, 2.0)  # solver times at which scales that depend on time are watched
ADVICE = "try a lower learning_rate, clip_norm or sigma_ceiling"


class DivergenceError(DcnbioError):
    """A training run that went wrong: its message names layer and epoch."""

    exit_status = 3


def diverged(what: str, epoch: int) -> DivergenceError:
    """Make the error."""
    return DivergenceError(f"training diverged in epoch {epoch}: {what}; {ADVICE}.")


def check_loss(loss: float, blocks: tuple[Solution, ...], epoch: int) -> None:
    """End a run whose loss is not finite, naming the block whose solve went wrong first, else the readout.

    Raises
    ------
    DivergenceError
    """
    if math.isfinite(loss):
        return
    for number, block in enumerate(blocks, 1):
        failed = (block.work.status != Status.OK).nonzero()
        if len(failed):
            first = int(failed[0, 0])
            status, reached = int(block.work.status[first]), float(block.work.reached[first])
            raise diverged(f"the solver gave up: {explain(status, f'block {number}', reached)}", epoch)
        if not bool(torch.isfinite(block.final).all()):
            raise diverged(f"the output of block {number} is not finite", epoch)
    raise diverged(f"the loss is {loss} though every block is finite, so it is the readout that grew too large", epoch)


def solved_back(blocks: tuple[Solution, ...], error: SolverError, epoch: int) -> DivergenceError:
    """Make the error of a run whose adjoint equation could not be solved; blocks are gone back over last to first."""
    begun = [number for number, block in enumerate(blocks, 1) if block.work.backward_nfe and block.work.backward_nfe()]
    return diverged(f"in block {min(begun, default=len(blocks))}, {str(error).rstrip('.')}", epoch)


def check_gradient(norm: Tensor, module: nn.Module, epoch: int) -> None:
    """End a run whose gradient is not finite, naming the first parameter of which this is so.

    Raises
    ------
    DivergenceError
    """
    if bool(torch.isfinite(norm)):
        return
    names = [n for n, p in module.named_parameters() if p.grad is not None and not bool(torch.isfinite(p.grad).all())]
    raise diverged(f"the gradient of {names[0] if names else 'all layers together'} is not finite", epoch)


@torch.no_grad()
def check_weights(module: nn.Module, epoch: int) -> None:
    """End a run in which a weight is not finite or beyond 1e6, naming the first: before it is saved over a good one.

    Raises
    ------
    DivergenceError
    """
    named = [(name, p) for name, p in module.named_parameters() if p.numel()]
    largest = torch.stack([p.abs().amax() for _, p in named])
    bad = ~(largest <= WEIGHT_MOST)  # so that NaN is bad
    if bool(bad.any()):
        first = int(bad.nonzero()[0, 0])
        raise diverged(f"the largest weight of {named[first][0]} is {float(largest[first]):.3g}", epoch)


def scale_layers(module: nn.Module) -> list[tuple[str, SRFConv2d]]:
    """List the layers that have scales."""
    return [(name, layer) for name, layer in module.named_modules() if isinstance(layer, SRFConv2d)]


def watched_times(layer: SRFConv2d) -> tuple[float, ...]:
    """Solver times at which a layer's scales are looked at."""
    return TIMES if layer.rule.sigma_degree else TIMES[:1]


@torch.no_grad()
def check_scales(module: nn.Module, guards: Guards, epoch: int) -> None:
    """End a run in which a scale has left its range or a weight has exploded, naming the layer.

    Raises
    ------
    DivergenceError
    """
    lowest = 0.0 if guards.sigma_least is None else guards.sigma_least
    highest = math.inf if guards.sigma_most is None else guards.sigma_most
    for name, layer in scale_layers(module):
        for time in watched_times(layer):
            sigma = layer.sigma(torch.tensor(time))
            least, most = float(sigma.min()), float(sigma.max())
            if not (least >= lowest and most <= highest):
                raise diverged(
                    f"sigma of {name} is {least:.3g} to {most:.3g} pixels at t = {time:g}, outside the range "
                    f"{lowest:g} to {highest:g} (sigma_least, sigma_most)",
                    epoch,
                )
    check_weights(module, epoch)


@torch.no_grad()
def hold_scales(module: nn.Module, ceiling: float | None) -> None:
    """Cut scales to a ceiling, pixels: what is above it is taken from the constant term of log2 sigma."""
    if ceiling is None:
        return
    for _, layer in scale_layers(module):
        for time in watched_times(layer):
            above = layer.log2_sigma(torch.tensor(time)) - math.log2(ceiling)
            layer.log2_sigma.offset.sub_(above.clamp(min=0))
