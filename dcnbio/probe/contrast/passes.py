"""One pass of images through a network under a condition: logits, block 1's last map, and evaluations per block."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.model import given_network
from dcnbio.model.apart import one_by_one
from dcnbio.model.integrate import Integration
from dcnbio.model.layers import Readout, Transition
from dcnbio.model.network import Network
from dcnbio.model.no_time import refuse_no_time
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.solution import Solution
from dcnbio.model.solve import joined, our_steps
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status
from dcnbio.probe.contrast.condition import BlockCondition, Condition
from dcnbio.probe.contrast.scaled_field import scaled_field, scaled_norm
from dcnbio.probe.precision import held_still

__all__ = ["Pass", "block_of", "check_network", "run_condition", "stem_bias"]


@dataclass(frozen=True)
class Pass:
    """What a condition made of images, on the CPU wherever the network lies.

    Attributes
    ----------
    logits : Tensor, shape (n, classes)
        NaN where a block was not solved.
    first : Tensor, shape (n, c, y, x)
        h at the end of block 1.
    nfe : Tensor, shape (n, blocks)
        Function evaluations; with shared steps every image carries its batch's number.
    solved : Tensor, shape (n,)
    """

    logits: Tensor
    first: Tensor
    nfe: Tensor
    solved: Tensor

    @classmethod
    def joined(cls, parts: list[Pass]) -> Pass:
        """Join the passes of several batches."""
        columns = zip(*((p.logits, p.first, p.nfe, p.solved) for p in parts), strict=True)
        return cls(*(torch.cat(column) for column in columns))


def check_network(net: Network) -> None:
    """Refuse a network without ODE blocks, or with T = 0 in one: it has no integration time."""
    given_network.check_network(net)
    if not all(isinstance(block, ODEBlock) for block in net.blocks):
        raise InputError(
            f"{net.spec.row} has residual blocks, which have no integration time to scale with contrast; give a "
            "network with ODE blocks, such as dcn-ode or ode-net."
        )
    refuse_no_time(net)


def stem_bias(net: Network) -> Tensor:
    """Give the constant b that channels of h(0) keep when the image is scaled, shape (1, c, 1, 1); 0 for SRF stems."""
    width = net.spec.widths[0]
    bias = net.stem.bias if isinstance(net.stem, PixelConv2d) else None
    given = next(net.parameters()).new_zeros(width) if bias is None else bias
    return given.detach().reshape(1, -1, 1, 1)


def run_condition(
    net: Network,
    images: Tensor,
    condition: Condition,
    solver: SolverSettings,
    later: SolverSettings | None = None,
) -> Pass:
    """Pass images through a network under a condition.

    Parameters
    ----------
    net : Network
    images : Tensor, shape (n, 3, y, x)
        At contrast 1.
    condition : Condition
    solver : SolverSettings
    later : SolverSettings, optional
        Of the blocks after the first.

    Returns
    -------
    Pass
    """
    apart = solver.stepping == "per-image"
    offset = (1 - condition.image) * stem_bias(net)
    with held_still(net):
        h = one_by_one(net.stem, condition.image * images, apart)
        first, counts, good = h, [], torch.ones(len(h), dtype=torch.bool)
        for number in range(1, len(net.blocks) + 1):
            changed = condition.block(number)
            h = changed.contrast * h if changed.scaled_here else h
            constant = offset if number == 1 else offset.new_zeros(1, 1, 1, 1)
            block, settings = block_of(net, number), solver if number == 1 else later or solver
            solution, nfe = solve_block(block, h, changed, settings, constant)
            counts.append(nfe)
            good &= solution.work.status == Status.OK
            h = solution.final
            first = h if number == 1 else first
            h = hand_on(net, number, h, changed, apart)
    return Pass(h.cpu(), first.cpu(), torch.stack(counts, 1), good)


def block_of(net: Network, number: int) -> ODEBlock:
    """Give an ODE block by its number."""
    return cast("ODEBlock", net.block(number))


def solve_block(
    block: ODEBlock,
    h: Tensor,
    changed: BlockCondition,
    solver: SolverSettings,
    offset: Tensor,
) -> tuple[Solution, Tensor]:
    """Solve a block under a condition, and count evaluations."""
    correction, c = changed.correction, changed.contrast
    field = scaled_field(block.field, eps=c if correction.eps else 1.0, time_term=c if correction.time_term else 1.0)
    end = block.integration_time * changed.time
    run = ODEBlock(field, end)
    if end == 0 or not (correction.tolerance or changed.looser != 1):
        solution = run.run(h, solver)
        return solution, solution.work.nfe
    unit = c if correction.tolerance else 1.0
    constant = offset if correction.tolerance else torch.zeros_like(offset)
    start = h - constant  # to f the same as h: block 1 norms each channel alone
    factor = unit * changed.looser
    allowed = replace(solver, rtol=changed.looser * solver.rtol, atol=factor * solver.atol)
    solution = begun_with(run, start, allowed, [factor * step for step in first_steps(block, start / unit, solver)])
    # the first step was chosen by the rule, which took one evaluation more
    return replace(solution, path=solution.path + constant[:, None]), solution.work.nfe + 1


def begun_with(run: ODEBlock, start: Tensor, solver: SolverSettings, steps: list[float]) -> Solution:
    """Solve with first steps that are given: one per image, or the batch's."""
    # a step that is no number belongs to a solve that ends early whatever it begins with
    given = [replace(solver, first_step=step if 0 < step < torch.inf else None) for step in steps]
    if solver.stepping == "shared":
        return run.run(start, given[0])
    return joined([run.run(row, one) for row, one in zip(torch.split(start, 1), given, strict=True)])


def first_steps(block: ODEBlock, h: Tensor, solver: SolverSettings) -> list[float]:
    """Give the first steps that the solver's rule chooses: one per image, or the batch's."""
    end = torch.tensor([block.integration_time], dtype=torch.float64)
    found: list[float] = Integration(our_steps(block.field, h), h, end, solver, 0.0).dt.tolist()
    return found


def hand_on(net: Network, number: int, h: Tensor, changed: BlockCondition, apart: bool) -> Tensor:
    """Give the next block's input, or logits after the last, through the norm that follows a block."""
    layer: Transition | Readout = (
        cast("Transition", net.transitions[number - 1]) if number <= len(net.transitions) else net.readout
    )
    if changed.correction.eps and changed.contrast != 1:
        norm = scaled_norm(layer.norm, changed.contrast)
        layer = copy.copy(layer)  # shares its weights with the network's
        layer._modules = {**layer._modules, "norm": norm}
    return one_by_one(layer, h, apart)
