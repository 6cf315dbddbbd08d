"""How long a training step takes with convolutions in bfloat16: float32 and bfloat16 in turn, on the same images."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import dcnbio
from dcnbio.model.convolution_precision import convolutions_in
from dcnbio.model.network import Network, build
from dcnbio.training.objective import Classification
from dcnbio.training.recipe_parts import Phase
from dcnbio.training.schedule import phase_solver
from dcnbio.training.setup import integration_time

__all__ = ["PrecisionRow", "measure_precision", "show_precision"]

ROWS = ("resnet-blocks", "ode-net", "dcn-sigma-ji", "dcn-ode")  # the last has no dense kernel in its blocks
TYPES = {"float32": None, "bfloat16": torch.bfloat16}
PHASE = Phase(method="midpoint", steps=1, gradient="exact", convolutions="bfloat16")


@dataclass(frozen=True)
class PrecisionRow:
    """A row of the paper, stepped in both types.

    Attributes
    ----------
    row : str
    images : int
        Of a step.
    float32, bfloat16 : float
        Median seconds of a step, from the images to the gradient.
    ratio : float
        bfloat16 / float32: the median over the pairs.
    cosine, untrained : float
        Of the angle between the two gradients, in the network that ships and in an untrained one.
    """

    row: str
    images: int
    float32: float
    bfloat16: float
    ratio: float
    cosine: float
    untrained: float


def step(net: Network, data: tuple[Tensor, Tensor], dtype: torch.dtype | None) -> None:
    """Carry the loss of one batch back to the weights, by one midpoint step per block."""
    net.zero_grad(set_to_none=True)
    objective = Classification(net)
    with convolutions_in(dtype):
        outcome = objective(*data, phase_solver(PHASE, integration_time(objective)))
    outcome.loss.backward()  # type: ignore[no-untyped-call]


def gradient(net: Network, data: tuple[Tensor, Tensor], dtype: torch.dtype | None) -> Tensor:
    """Give the gradient of all weights as one vector."""
    step(net, data, dtype)
    return torch.cat([p.grad.flatten().double() for p in net.parameters() if p.grad is not None])


def cosine(net: Network, data: tuple[Tensor, Tensor]) -> float:
    """Compare the gradients of a network in both types."""
    plain, rounded = (gradient(net, data, dtype) for dtype in TYPES.values())
    return float(nn.functional.cosine_similarity(plain, rounded, dim=0))


def measure_row(row: str, data: tuple[Tensor, Tensor], repeats: int) -> PrecisionRow:
    """Step the network of a row that ships in both types in turn; steps that compare gradients are not timed."""
    net = dcnbio.load(row).train()
    cosines = cosine(net, data), cosine(build(row, seed=0), data)
    seconds: dict[str, list[float]] = {name: [] for name in TYPES}
    for _ in range(repeats):
        for name, dtype in TYPES.items():
            started = time.perf_counter()
            step(net, data, dtype)
            seconds[name].append(time.perf_counter() - started)
    ratios = [b / f for f, b in zip(seconds["float32"], seconds["bfloat16"], strict=True)]
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    return PrecisionRow(row, len(data[0]), medians["float32"], medians["bfloat16"], statistics.median(ratios), *cosines)


def measure_precision(data: tuple[Tensor, Tensor], repeats: int, rows: Sequence[str] = ROWS) -> list[PrecisionRow]:
    """Step networks that ship in float32 and in bfloat16, in turn.

    Parameters
    ----------
    data : tuple of Tensor
        Images (n, 3, y, x) and labels.
    repeats : int
        Timed pairs of steps.
    rows : sequence of str
        Of the paper.
    """
    return [measure_row(row, data, repeats) for row in rows]


def show_precision(rows: Sequence[PrecisionRow]) -> None:
    """Print a line for each row."""
    print(f"{'row':<15}{'float32 s':>10}{'bfloat16 s':>12}{'ratio':>7}{'cosine':>9}{'untrained':>11}")
    for row in rows:
        print(
            f"{row.row:<15}{row.float32:>10.3f}{row.bfloat16:>12.3f}{row.ratio:>7.2f}{row.cosine:>9.4f}"
            f"{row.untrained:>11.4f}"
        )
