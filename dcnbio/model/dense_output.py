"""Collects the solution at the wanted times from the steps that pass over them."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt, dense_weights

__all__ = ["DenseOutput", "interpolate"]


def interpolate(weights: Tensor, state: tuple[Tensor, Tensor], attempt: Attempt) -> Tensor:
    """Add up one step's states and slopes, always by the same operations in the same order.

    So that h(T) has the same bits however many other times are asked for. `weights` are those of y0, y1, y_mid, f0 and
    f1, shape (5,), in the state's type.
    """
    (y0, f0), (y1, f1, y_mid, _) = state, attempt
    total = y0 * weights[0]
    for position, part in enumerate((y1, y_mid, f0, f1), 1):
        total = torch.addcmul(total, part, weights[position])
    return total


class DenseOutput:
    """The path of every image at given times, filled in as steps are accepted.

    Parameters
    ----------
    times : Tensor, shape (t,), float64
        Ascending, from `start` on.
    h0 : Tensor, shape (n, ...)
        The state at time `start`.
    start : float
        Solver time at which the solve begins.
    """

    def __init__(self, times: Tensor, h0: Tensor, start: float = 0.0) -> None:
        self.times: list[float] = times.tolist()
        self.path = torch.full((len(h0), len(self.times), *h0.shape[1:]), torch.nan, dtype=h0.dtype, device=h0.device)
        for position, time in enumerate(self.times):
            if time == start:
                self.path[:, position] = h0

    def add(self, images: slice | int, clock: tuple[Tensor, Tensor], state: tuple[Tensor, Tensor], to: Attempt) -> None:
        """Fill in the times that a step (t0, dt) passes over, for the images that took it together."""
        t0, dt = clock
        start, end = float(t0.detach()), float((t0 + dt).detach())
        positions = [position for position, time in enumerate(self.times) if start < time <= end]
        if not positions:
            return
        moments = torch.tensor([self.times[position] for position in positions], dtype=torch.float64)
        weights = dense_weights((moments - t0) / dt)
        weights = torch.cat([weights[:, :3], weights[:, 3:] * dt], 1).to(state[0])
        for position, own in zip(positions, weights, strict=True):
            self.path[images, position] = interpolate(own, state, to)
