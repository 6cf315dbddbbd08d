"""How a network is solved, as options: each command with the stepping that it takes unless told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from dcnbio.commands.options import HOW

__all__ = ["How", "HowMeasured"]

Stepping = Annotated[
    Literal["per-image", "shared"],
    Parameter(help="Own steps for each image, or one step for the batch, as in the paper."),
]
Rtol = Annotated[float, Parameter(help="Relative tolerance.")]
Atol = Annotated[float, Parameter(help="Absolute tolerance.")]
Method = Annotated[str, Parameter(help="dopri5, or another method of torchdiffeq.")]
StepSize = Annotated[float | None, Parameter(help="Step of a fixed-step method, in solver time.")]
MaxEvaluations = Annotated[int | None, Parameter(help="Evaluations before an image is given up.")]
Device = Annotated[str, Parameter(help="cpu or cuda.")]


@Parameter(name="*", group=HOW)
@dataclass(frozen=True)
class How:
    """How it is solved where it is recorded."""

    stepping: Stepping = "per-image"
    batch_size: Annotated[int, Parameter(help="Images solved, and written, together.")] = 50
    rtol: Rtol = 1e-3
    atol: Atol = 1e-3
    method: Method = "dopri5"
    step_size: StepSize = None
    max_steps: Annotated[
        int | None,
        Parameter(help="Attempted steps before an image is given up. [default: 2000; 32 with accepted times]"),
    ] = None
    max_evaluations: MaxEvaluations = None
    error_sample: Annotated[
        int,
        Parameter(help="Estimate the error of h(t) of so many images, run again in float64 at rtol / 100, atol / 100."),
    ] = 0
    dtype: Annotated[Literal["float32", "float64"], Parameter(help="Type of weights, h and file.")] = "float32"
    device: Device = "cpu"


@Parameter(name="*", group=HOW)
@dataclass(frozen=True)
class HowMeasured:
    """How it is solved where only answers are counted.

    A class of its own: options that are given make a new one, so a default that stood in the signature would be lost
    with the first of them.
    """

    stepping: Stepping = "shared"
    batch_size: Annotated[int, Parameter(help="Images solved together.")] = 50
    rtol: Rtol = 1e-3
    atol: Atol = 1e-3
    method: Method = "dopri5"
    step_size: StepSize = None
    max_steps: Annotated[int | None, Parameter(help="Attempted steps before an image is given up. [default: 2000]")] = (
        None
    )
    max_evaluations: MaxEvaluations = None
    dtype: Annotated[Literal["float32", "float64"], Parameter(help="Type of weights and h.")] = "float32"
    device: Device = "cpu"
