"""What a person may choose about a recording, checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["ProbeSettings"]

DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class ProbeSettings:
    """How a network is recorded.

    Attributes
    ----------
    times : int or sequence of float
        How many equally spaced solver times from 0 to T of each block, or the times themselves.
    blocks : sequence of int, optional
        Blocks to record, from 1; all by default.
    stepping : {"per-image", "shared"}
        Own steps for each image, so that its record does not depend on its batch mates; or one step for the batch, as
        in the paper.
    batch_size : int
        Images solved together. Boundaries are fixed by position.
    rtol, atol : float
        Tolerances of the solver.
    method : str
        "dopri5", or another method of torchdiffeq by name.
    step_size : float, optional
        Step in solver time, for fixed-step methods.
    max_steps : int
        Attempted steps an image may take in a block before it is given up.
    max_evaluations : int, optional
        The same for function evaluations.
    dtype : {"float32", "float64"}
        In which the network is run and h is stored.
    device : str
        "cpu" or "cuda".
    mask : int, optional
        Side in pixels of a central square of the images that is set to `fill`.
    fill : float, "grey" or "mean"
        What the mask is filled with; the paper's is 0.
    contrast : float
        The images are multiplied by it.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> ProbeSettings(times=11).solver.stepping
    'per-image'
    """

    times: int | Sequence[float] = 21
    blocks: Sequence[int] | None = None
    stepping: str = "per-image"
    batch_size: int = 100
    rtol: float = 1e-3
    atol: float = 1e-3
    method: str = "dopri5"
    step_size: float | None = None
    max_steps: int = 2000
    max_evaluations: int | None = None
    dtype: str = "float32"
    device: str = "cpu"
    mask: int | None = None
    fill: float | Literal["grey", "mean"] = 0.0
    contrast: float = 1.0

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InputError(f"batch_size is {self.batch_size}; it must be at least 1.")
        if self.dtype not in DTYPES:
            raise InputError(f"dtype is {self.dtype!r}; a network is run in float32 or float64.")
        if not (math.isfinite(self.contrast) and self.contrast >= 0):
            raise InputError(f"contrast is {self.contrast}; it must be finite and 0 or more.")
        if self.device.split(":")[0] not in ("cpu", "cuda", "mps") or (
            self.device.startswith("cuda") and not torch.cuda.is_available()
        ):
            raise InputError(f"device is {self.device!r}, which this machine does not have; use cpu.")
        _ = self.solver  # its own checks

    @property
    def solver(self) -> SolverSettings:
        """The solver these settings ask for."""
        return SolverSettings(
            method=self.method,
            rtol=self.rtol,
            atol=self.atol,
            stepping=self.stepping,
            step_size=self.step_size,
            max_steps=self.max_steps,
            max_evaluations=self.max_evaluations,
        )

    @property
    def torch_dtype(self) -> torch.dtype:
        """The type as torch names it."""
        return DTYPES[self.dtype]

    def chosen_blocks(self, net: Network) -> tuple[int, ...]:
        """Give the blocks to record, in order of depth."""
        every = range(1, len(net.blocks) + 1)
        chosen = tuple(every) if self.blocks is None else tuple(sorted({int(block) for block in self.blocks}))
        wrong = [block for block in chosen if block not in every]
        if wrong or not chosen:
            raise InputError(
                f"blocks are {list(self.blocks or [])}; {net.spec.row} has blocks {every.start} to {every.stop - 1}."
            )
        return chosen
