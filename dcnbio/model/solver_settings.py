"""What a person may choose about the solver, checked when it is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["FIXED_STEP_METHODS", "SolverSettings"]

FIXED_STEP_METHODS = frozenset({"euler", "midpoint", "heun2", "heun3", "rk4", "explicit_adams", "implicit_adams"})
ADAPTIVE_METHODS = frozenset({"dopri5", "dopri8", "bosh3", "fehlberg2", "adaptive_heun"})


@dataclass(frozen=True)
class SolverSettings:
    """The solver of a network's ODE blocks.

    Attributes
    ----------
    method : str
        "dopri5" is ours; any other name is torchdiffeq's method of that name.
    rtol, atol : float
        A step is accepted if the root mean square of error / (atol + rtol max(|h0|, |h1|)) is at most 1.
    stepping : str
        "shared": one step size and one error norm for the whole batch, as in the paper; NFE then belongs to the batch.
        "per-image": each image has its own steps, so its record does not depend on its batch mates.
    gradient : str
        "exact": through the accepted steps, each recomputed, of the numbers that were computed.
        "adjoint": by the adjoint equation, solved backwards, as in the paper; the steps and numbers are torchdiffeq's.
        "straight": through every operation of the solver, the choice of its steps included; memory grows with the
        evaluations. It is there to be compared with, and the one way to second derivatives.
    step_size : float or None
        Step of a fixed-step method, in solver time.
    first_step : float or None
        First step of dopri5, in solver time; None chooses it by Hairer, Norsett and Wanner's rule (one evaluation).
    max_steps : int
        Attempted steps an image may take in a block.
    max_evaluations : int or None
        Function evaluations an image may take in a block; with adjoint gradients, as many again on the way back.
    reduce : callable or None
        Adds a tensor up over the processes that step one batch together; no part of what is computed alone.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> SolverSettings(rtol=1e-5, atol=1e-5).method
    'dopri5'
    """

    method: str = "dopri5"
    rtol: float = 1e-3
    atol: float = 1e-3
    stepping: str = "shared"
    gradient: str = "exact"
    step_size: float | None = None
    first_step: float | None = None
    max_steps: int = 2000
    max_evaluations: int | None = None
    reduce: Callable[[Tensor], Tensor] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, allowed in (("stepping", {"shared", "per-image"}), ("gradient", {"exact", "adjoint", "straight"})):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is {getattr(self, name)!r}; allowed are {', '.join(sorted(allowed))}.")
        self._check_method()
        self._check_numbers()

    @property
    def fixed_step(self) -> bool:
        """Whether the method takes steps of a given size instead of controlling its error."""
        return self.method in FIXED_STEP_METHODS

    def _check_method(self) -> None:
        known = ADAPTIVE_METHODS | FIXED_STEP_METHODS
        if self.method not in known:
            raise InputError(f"method is {self.method!r}; known are {', '.join(sorted(known))}.")
        if self.fixed_step and self.step_size is None:
            raise InputError(
                f"step_size is not given, and {self.method} is a fixed-step method; "
                "state the step in solver time (for instance step_size=0.1), since otherwise asking for more times "
                "would change the answer."
            )
        if not self.fixed_step and self.step_size is not None:
            raise InputError(f"step_size is {self.step_size}, but {self.method} chooses its own steps; leave it out.")

    def _check_numbers(self) -> None:
        for name in ("rtol", "atol", "step_size", "first_step"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value}; it must be positive and finite (the paper uses 1e-3).")
        for name in ("max_steps", "max_evaluations"):
            value = getattr(self, name)
            if value is not None:
                count(name, value, 1)
