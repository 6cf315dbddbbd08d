"""Which solvers are tried when one asks whether a conclusion moves with the solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcnbio.errors import InputError
from dcnbio.probe.settings import ProbeSettings

__all__ = ["TOLERANCES", "SolverRow", "solver_rows"]

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
DOUBLE_FROM = 1e-5  # rounding of float32 shows in the error estimate below
FIXED = (("euler", 32), ("midpoint", 16), ("rk4", 8))  # steps in a block
OTHERS = ("bosh3", "dopri8")


@dataclass(frozen=True)
class SolverRow:
    """A solver that is tried.

    Attributes
    ----------
    method : str
    tolerance : float
        rtol = atol; NaN for fixed steps.
    steps : int
        Fixed steps in each block; 0 where the method chooses them.
    dtype : {"float32", "float64"}
    """

    method: str
    tolerance: float
    steps: int
    dtype: str

    @property
    def label(self) -> str:
        """Name it in a table.

        Examples
        --------
        >>> SolverRow("rk4", float("nan"), 8, "float32").label, SolverRow("dopri5", 1e-5, 0, "float64").label
        ('rk4 x 8', 'dopri5 1e-05')
        """
        return f"{self.method} x {self.steps}" if self.steps else f"{self.method} {self.tolerance:g}"

    def settings(self, base: ProbeSettings, time: float) -> ProbeSettings:
        """Give the settings of a block that is solved over `time`."""
        if self.steps:
            return replace(base, method=self.method, step_size=max(time, 1e-9) / self.steps, dtype=self.dtype)
        return replace(
            base, method=self.method, step_size=None, rtol=self.tolerance, atol=self.tolerance, dtype=self.dtype
        )


def solver_rows(tolerances: Sequence[float] = TOLERANCES) -> list[SolverRow]:
    """List the solvers that are tried: dopri5 from loose to tight, fixed steps, and other pairs at 1e-3.

    Examples
    --------
    >>> [row.label for row in solver_rows((1e-2, 1e-6))][:3]
    ['dopri5 0.01', 'dopri5 1e-06', 'euler x 32']
    """
    if len(tolerances) < 2 or any(not 0 < tolerance < 1 for tolerance in tolerances):
        raise InputError(f"tolerances are {list(tolerances)}; give two or more between 0 and 1, such as 1e-3, 1e-6.")
    ordered = sorted(set(tolerances), reverse=True)
    rows = [SolverRow("dopri5", tol, 0, "float32" if tol > DOUBLE_FROM * 1.001 else "float64") for tol in ordered]
    rows += [SolverRow(method, float("nan"), steps, "float32") for method, steps in FIXED]
    return rows + [SolverRow(method, 1e-3, 0, "float32") for method in OTHERS]
