"""How intervals are made: resamples and seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from dcnbio.commands.measure_plan import check_seed
from dcnbio.errors import InputError

__all__ = ["RESAMPLING", "Resampling"]


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    resamples: Annotated[int, Parameter(help="Of each bootstrap; 9999 for print.")] = 1999
    seed: Annotated[int, Parameter(help="Of all resampling.")] = 0

    def check(self) -> None:
        """Refuse fewer resamples than limits at 95 % need, and a seed below 0, before anything is computed."""
        if self.resamples < 99:
            raise InputError(f"--resamples is {self.resamples}; limits at 95 % need at least 99 (1999 for print).")
        check_seed(self.seed)


RESAMPLING = Resampling()
