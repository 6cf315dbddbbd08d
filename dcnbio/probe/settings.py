"""What a person may choose about a recording, checked before anything is computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch

from dcnbio.errors import InputError
from dcnbio.model.device import check_device
from dcnbio.model.network import Network
from dcnbio.model.patch import Patch
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.selection import Channels, Window
from dcnbio.recording.reductions import Reduction, find_reductions

__all__ = ["ProbeSettings", "settings_of"]

DTYPES = {"float32": torch.float32, "float64": torch.float64}
STORAGE = ("float16", "float32", "float64")
MOST_STEPS = 2000
MOST_ACCEPTED = 32  # room for the accepted steps of an image in a block, where these are the times


@dataclass(frozen=True)
class ProbeSettings:
    """How a network is recorded.

    Attributes
    ----------
    times : int, sequence of float, or "accepted"
        How many equally spaced solver times from 0 to T of each block, or the times themselves; or wherever the solver
        accepted a step, which differs from image to image: h is then padded with NaN along time, and ``recorded_time``
        (stimulus, time) says when it was.
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
    max_steps : int, optional
        Attempted steps an image may take in a block before it is given up; 2000, or 32 with the accepted steps, which
        need room in the file.
    max_evaluations : int, optional
        The same for function evaluations.
    dtype : {"float32", "float64"}
        In which the network is run and, where `storage` does not say otherwise, h is stored.
    device : str
        "cpu" or "cuda".
    mask : int, optional
        Side in pixels of a central square of the images that is set to `fill`.
    fill : float, "grey" or "mean"
        What the mask is filled with; the paper's is 0.
    contrast : float
        The images are multiplied by it.
    channels : sequence of int, or dict of them by block, optional
        Channels that are recorded; all by default. Coordinates keep their indices in the block.
    window : str, pair of slices, or dict of them by block, optional
        Rows and columns of the maps that are recorded, such as "12:20,12:20"; all by default.
    storage : {"float16", "float32", "float64"}, optional
        In which h is stored. A value beyond float16's 65504 is refused.
    maps : bool
        Whether h itself is recorded.
    reductions : str or sequence of str
        Numbers that stand for the recorded part of h at each time, computed while solving; names of
        ``dcnbio.recording.reductions.REDUCTIONS``.
    patch : Patch or sequence of Patch, optional
        Interventions: changes of h at a solver time, from which the solve goes on.
    error_sample : int
        Of how many images, from the first, the error of h(t) is estimated: they are run again, in float64 at rtol / 100
        and atol / 100, and ``h_error`` (stimulus, time) is the relative distance. 0: none.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> ProbeSettings(times=11).solver.stepping
    'per-image'
    """

    times: int | Sequence[float] | str = 21
    blocks: int | Sequence[int] | None = None
    stepping: str = "per-image"
    batch_size: int = 50
    rtol: float = 1e-3
    atol: float = 1e-3
    method: str = "dopri5"
    step_size: float | None = None
    max_steps: int | None = None
    max_evaluations: int | None = None
    dtype: str = "float32"
    device: str = "cpu"
    mask: int | None = None
    fill: float | Literal["grey", "mean"] = 0.0
    contrast: float = 1.0
    channels: Channels | None = None
    window: Window | None = None
    storage: str | None = None
    maps: bool = True
    reductions: str | Sequence[str] = ()
    patch: Patch | Sequence[Patch] | None = None
    error_sample: int = 0

    def __post_init__(self) -> None:
        if whole("batch_size", self.batch_size) < 1:
            raise InputError(f"batch_size is {self.batch_size}; it must be at least 1.")
        if self.dtype not in DTYPES:
            raise InputError(f"dtype is {self.dtype!r}; a network is run in float32 or float64.")
        if not (math.isfinite(self.contrast) and 0 <= self.contrast <= float(np.finfo(np.float32).max)):
            raise InputError(f"contrast is {self.contrast}; it must be finite and 0 or more.")
        if self.mask is not None and whole("mask", self.mask) < 0:
            raise InputError(f"mask is {self.mask}; the side of a square is 0 pixels or more.")
        if np.ndim(self.times) == 0 and not self.accepted:
            whole("times", self.times)
        self._check_recorded()
        if self.blocks is not None:
            blocks = [self.blocks] if np.ndim(self.blocks) == 0 else list(self.blocks)  # type: ignore[arg-type]
            object.__setattr__(self, "blocks", tuple(whole("blocks", block) for block in blocks))
        check_device(self.device, self.dtype)
        self._check_error_sample()
        _ = self.solver  # its own checks

    def _check_recorded(self) -> None:
        if self.storage is not None and self.storage not in STORAGE:
            raise InputError(f"storage is {self.storage!r}; h is stored in {', '.join(STORAGE)}.")
        names = [self.reductions] if isinstance(self.reductions, str) else list(self.reductions)
        object.__setattr__(self, "reductions", tuple(one.name for one in find_reductions(names)))
        given = () if self.patch is None else (self.patch,) if isinstance(self.patch, Patch) else tuple(self.patch)
        if not all(isinstance(patch, Patch) for patch in given):
            raise InputError(f"patch is {self.patch!r}; give a dcnbio.Patch, or a list of them.")
        if given and self.accepted:
            raise InputError("times is 'accepted' and patch is given, which begins a new solve; give the solver times.")
        object.__setattr__(self, "patch", given)

    def _check_error_sample(self) -> None:
        if whole("error_sample", self.error_sample) < 0:
            raise InputError(f"error_sample is {self.error_sample}; it is a number of images, 0 for none.")
        if self.error_sample and self.accepted:
            raise InputError(
                f"error_sample is {self.error_sample} and times is 'accepted', of which no two solves have the same; "
                "give the solver times, such as times=21, or leave error_sample out."
            )
        if self.error_sample and self.device.partition(":")[0] == "mps":
            raise InputError(
                f"error_sample is {self.error_sample}, which needs float64, and the device mps does not have that; "
                "use the cpu, or leave error_sample out."
            )

    @property
    def accepted(self) -> bool:
        """Whether h is recorded at the accepted steps."""
        return isinstance(self.times, str) and self.times == "accepted"

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The interventions."""
        return cast("tuple[Patch, ...]", self.patch)

    @property
    def chosen_reductions(self) -> tuple[Reduction, ...]:
        """What is computed while solving."""
        return find_reductions(self.reductions)

    @property
    def most_steps(self) -> int:
        """Attempted steps an image may take in a block."""
        default = MOST_ACCEPTED if self.accepted else MOST_STEPS
        return default if self.max_steps is None else self.max_steps

    @property
    def solver(self) -> SolverSettings:
        """The solver these settings ask for."""
        return SolverSettings(
            method=self.method,
            rtol=self.rtol,
            atol=self.atol,
            stepping=self.stepping,
            step_size=self.step_size,
            max_steps=self.most_steps,
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
