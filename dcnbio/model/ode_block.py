"""Blocks of a network: a differential equation, or the one residual step it is the limit of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.accepted_path import solve_accepted
from dcnbio.model.apart import one_by_one
from dcnbio.model.full_precision import full_precision
from dcnbio.model.patch import Patch
from dcnbio.model.patched_solve import solve_patched
from dcnbio.model.solution import Solution, Work
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status
from dcnbio.model.uncompiled import uncompiled
from dcnbio.model.vector_field import FieldConv

__all__ = ["ODEBlock", "ResidualBlock"]

# a count of times, the times, or "accepted": wherever a step of the solver ended
TimesRequest = int | list[float] | Tensor | str


def all_finite(h: Tensor) -> Tensor:
    """Say for each image whether its maps are finite, shape (n,)."""
    return torch.isfinite(h).flatten(1).all(1)


def check_accepted(times: str, patches: Sequence[Patch]) -> None:
    """Refuse words that are no times, and a patch where steps are recorded."""
    if times != "accepted":
        raise InputError(f"times is {times!r}; give a count, a list of solver times, or 'accepted'.")
    if patches:
        raise InputError("times is 'accepted' and a patch is given, which begins a new solve; give the solver times.")


class ODEBlock(nn.Module):
    """Hidden state h(t) that follows dh/dt = f(t, h) from 0 to T.

    Parameters
    ----------
    field : nn.Module
        f(t, h), the vector field.
    integration_time : float
        T, in solver time.
    """

    def __init__(self, field: nn.Module, integration_time: float) -> None:
        super().__init__()
        self.field = field
        self.integration_time = integration_time

    @uncompiled
    def run(
        self, h: Tensor, settings: SolverSettings, times: TimesRequest = 2, patches: Sequence[Patch] = ()
    ) -> Solution:
        """Solve from the block's input `h`, shape (n, c, y, x), and give the path at `times` and at T."""
        if isinstance(times, str):
            check_accepted(times, patches)
            with full_precision(h):
                return solve_accepted(self.field, h, self.integration_time, settings)
        grid = solve_times(times, self.integration_time)
        end = grid.new_tensor([self.integration_time])
        # T is always solved for, whatever is asked for, since it is what the next layer reads
        grid = grid if grid[-1] == end else torch.cat([grid, end])
        with full_precision(h):
            if patches:
                return solve_patched(self.field, h, grid, settings, patches)
            return solve(self.field, h, grid, settings)

    def forward(self, h: Tensor, settings: SolverSettings) -> Tensor:
        """Give h(T), shape (n, c, y, x)."""
        return self.run(h, settings).final


class ResidualBlock(nn.Module):
    """h + K2 * g(K1 * g(h)) with g(x) = activation(Gnorm(x)): one block of the ResNet baselines.

    Parameters
    ----------
    conv : callable
        Makes one of the two convolutions.
    norm : callable
        Makes one of the two group norms.
    activation : callable
    """

    integration_time = 1.0

    def __init__(
        self,
        conv: Callable[[], FieldConv],
        norm: Callable[[], nn.GroupNorm],
        activation: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.norm1, self.conv1 = norm(), conv()
        self.norm2, self.conv2 = norm(), conv()
        self.activation = activation

    def forward(self, h: Tensor, settings: SolverSettings | None = None) -> Tensor:
        """Give the block's output, shape (n, c, y, x)."""
        maps = self.conv1(self.activation(self.norm1(h)))
        change: Tensor = self.conv2(self.activation(self.norm2(maps)))
        return h + change

    @uncompiled
    def run(
        self, h: Tensor, settings: SolverSettings, times: TimesRequest = 2, patches: Sequence[Patch] = ()
    ) -> Solution:
        """Give input and output as a path of two times, 0 and 1; other times do not exist in it."""
        for patch in patches:
            h = patch.applied(h) if patch.time == 0 else h
        output = one_by_one(self, h, settings.stepping == "per-image")
        for patch in patches:
            output = patch.applied(output) if patch.time == 1 else output
        none = torch.zeros(len(h), dtype=torch.int64)
        status = torch.where(all_finite(output.detach()).cpu(), int(Status.OK), int(Status.NON_FINITE))
        work = Work(none + 1, none, none, status, none.double() + 1, ((),) * len(h))
        return Solution(torch.tensor([0.0, 1.0], dtype=torch.float64), torch.stack([h, output], 1), work)
