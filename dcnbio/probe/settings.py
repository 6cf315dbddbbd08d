"""What a person may choose about a recording, checked before anything is computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["ProbeSettings", "settings_of"]

DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class ProbeSettings:
    """How a network is recorded.

    Attributes
    ----------
    times : int or sequence of float
        How many equally spaced solver times from 0 to T of each block, or the times themselves.
    blocks : int or sequence of int, optional
        Blocks to record, from 1; all by default.
    stepping : {"per-image", "shared"}
        Own steps for each image, so that its record does not depend on its batch mates; or one step for the batch, as
        in the paper.
    batch_size : int
        Images solved together, and written together. Boundaries are fixed by position.
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
    blocks: int | Sequence[int] | None = None
    stepping: str = "per-image"
    batch_size: int = 50
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
        if whole("batch_size", self.batch_size) < 1:
            raise InputError(f"batch_size is {self.batch_size}; it must be at least 1.")
        if self.dtype not in DTYPES:
            raise InputError(f"dtype is {self.dtype!r}; a network is run in float32 or float64.")
        if not (math.isfinite(self.contrast) and 0 <= self.contrast <= float(np.finfo(np.float32).max)):
            raise InputError(f"contrast is {self.contrast}; it must be finite and 0 or more.")
        if self.mask is not None and whole("mask", self.mask) < 0:
            raise InputError(f"mask is {self.mask}; the side of a square is 0 pixels or more.")
        if np.ndim(self.times) == 0:
            whole("times", self.times)
        if self.blocks is not None:
            blocks = [self.blocks] if isinstance(self.blocks, int) else list(self.blocks)
            object.__setattr__(self, "blocks", tuple(whole("blocks", block) for block in blocks))
        check_device(self.device, self.dtype)
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

    @property
    def wanted_times(self) -> int | list[float]:
        """The times as `solve_times` takes them."""
        return operator.index(self.times) if np.ndim(self.times) == 0 else [float(t) for t in np.asarray(self.times)]  # type: ignore[arg-type]

    def chosen_blocks(self, net: Network) -> tuple[int, ...]:
        """Give the blocks to record, in order of depth."""
        every = range(1, len(net.blocks) + 1)
        given = every if self.blocks is None else self.blocks
        chosen = tuple(sorted(set(given)))  # type: ignore[arg-type]
        if not chosen or any(block not in every for block in chosen):
            raise InputError(f"blocks are {list(chosen)}; {net.spec.row} has blocks {every.start} to {every.stop - 1}.")
        return chosen


def whole(name: str, value: Any) -> int:
    """Take a whole number; others are refused, not cut."""
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name} has {value!r}, which is no whole number; give one, such as 1 or 21.") from None


def check_device(device: str, dtype: str) -> None:
    """Refuse a device that this machine does not have, or that cannot do what is asked."""
    kind, _, number = device.partition(":")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    count = there.get(kind, 0)
    if (number and not number.isdecimal()) or int(number or 0) >= count:
        known = ", ".join(name for name, some in there.items() if some)
        raise InputError(f"device is {device!r}, which this machine does not have; use {known}.")
    if kind == "mps" and dtype == "float64":
        raise InputError("dtype is float64, which the device mps does not have; use float32, or the cpu.")


def settings_of(values: Mapping[str, Any]) -> ProbeSettings:
    """Make settings of keywords; an unknown one is named together with those that exist.

    Examples
    --------
    >>> settings_of({"times": 3}).times
    3
    """
    known = ProbeSettings.__dataclass_fields__
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise InputError(f"{', '.join(unknown)} is no setting of a probe; known are {', '.join(known)}.")
    return ProbeSettings(**values)
