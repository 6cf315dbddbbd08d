"""The solution of an ODE block for a batch, its path, work and ending; and those of all blocks of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.status import Status

__all__ = ["Run", "Solution", "Work"]


@dataclass(frozen=True)
class Work:
    """What the solver did for each image.

    Attributes
    ----------
    nfe, accepted, rejected : Tensor, shape (n,), int64
        Function evaluations and steps. With shared stepping every image carries the batch's number: never add them up.
        Methods of torchdiffeq with fixed steps have no rejected steps.
    status : Tensor, shape (n,), int64
        Values of `Status`.
    reached : Tensor, shape (n,), float64
        Solver time up to which the path is known.
    step_times : tuple of tuple of float
        Ends of the accepted steps, per image; the last one lies past the end of the block.
    backward_nfe : callable or None
        Gives the evaluations of the adjoint solve once gradients have been taken; None with other gradients.
    """

    nfe: Tensor
    accepted: Tensor
    rejected: Tensor
    status: Tensor
    reached: Tensor
    step_times: tuple[tuple[float, ...], ...]
    backward_nfe: Callable[[], int] | None = None


@dataclass(frozen=True)
class Solution:
    """The path of a block's hidden state and the work it took.

    Attributes
    ----------
    times : Tensor, shape (t,), float64
        Solver times, ascending; the last one is the block's end. With the accepted steps (n, t): each image's own, NaN
        after its last.
    path : Tensor, shape (n, t, c, y, x)
        h at these times, from the dense output; NaN past the time an image's solve ended early.
    work : Work
    end : Tensor, shape (n, c, y, x), optional
        h at the block's end, where the path's last time is not that of every image.
    """

    times: Tensor
    path: Tensor
    work: Work
    end: Tensor | None = None

    @property
    def final(self) -> Tensor:
        """The state handed on to the next layer, h at the block's end, shape (n, c, y, x)."""
        return self.path[:, -1] if self.end is None else self.end

    @property
    def ok(self) -> bool:
        """Whether every image reached the end."""
        return bool((self.work.status == Status.OK).all())

    @classmethod
    def of_no_images(cls, h0: Tensor, times: Tensor) -> Solution:
        """Give the solution for a batch without images, h0 of shape (0, c, y, x)."""
        none = torch.zeros(0, dtype=torch.int64)
        path = h0.unsqueeze(1).expand(0, len(times), *h0.shape[1:])
        return cls(times, path, Work(none, none, none, none, none.double(), ()))

    @classmethod
    def without_time(cls, h0: Tensor, times: Tensor) -> Solution:
        """Give the solution where no time passes: h0, shape (n, c, y, x), at the end; gradients flow to it."""
        none = torch.zeros(len(h0), dtype=torch.int64)
        path = torch.stack([h0] * len(times), 1)
        return cls(times, path, Work(none, none, none, none, none.double() + times[-1], ((),) * len(h0)))


@dataclass(frozen=True)
class Run:
    """What one pass of a batch through a network gave.

    Attributes
    ----------
    logits : Tensor, shape (n, classes)
    blocks : tuple of Solution
        One per block, in order.
    """

    logits: Tensor
    blocks: tuple[Solution, ...]
