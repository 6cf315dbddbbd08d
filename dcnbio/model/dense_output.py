"""Collects the solution at the wanted times from the steps that pass over them."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt, dense_weights

__all__ = ["DenseOutput", "interpolate"]


def interpolate(x: float, dt: float, state: tuple[Tensor, Tensor], attempt: Attempt) -> Tensor:
    """Evaluate the quartic of one step at fraction `x`, always by the same operations in the same order.

    So that h(T) has the same bits however many other times are asked for.
    """
    (y0, f0), (y1, f1, y_mid, _) = state, attempt
    weights = dense_weights(torch.tensor([x], dtype=torch.float64))[0].tolist()
    total = y0 * weights[0]
    parts = ((y1, weights[1]), (y_mid, weights[2]), (f0, dt * weights[3]), (f1, dt * weights[4]))
    for part, weight in parts:
        total = torch.add(total, part, alpha=weight)
    return total


class DenseOutput:
    """The path of every image at given times, filled in as steps are accepted.

    Parameters
    ----------
    times : Tensor, shape (t,), float64
        Ascending, from 0 on.
    h0 : Tensor, shape (n, ...)
        The state at time 0.
    """

    def __init__(self, times: Tensor, h0: Tensor) -> None:
        self.times: list[float] = times.tolist()
        self.path = torch.full((len(h0), len(self.times), *h0.shape[1:]), torch.nan, dtype=h0.dtype, device=h0.device)
        for position, time in enumerate(self.times):
            if time == 0:
                self.path[:, position] = h0

    def passed(self, t0: float, t1: float) -> list[int]:
        """List the positions of the times in (t0, t1]."""
        return [position for position, time in enumerate(self.times) if t0 < time <= t1]

    def add_shared(self, t0: float, dt: float, state: tuple[Tensor, Tensor], attempt: Attempt) -> None:
        """Fill in the times that a step of the whole batch passes over."""
        for position in self.passed(t0, t0 + dt):
            x = (self.times[position] - t0) / dt
            self.path[:, position] = interpolate(x, dt, state, attempt)

    def add_image(self, image: int, row: int, clock: tuple[float, float], steps: tuple[Tensor, ...]) -> None:
        """Fill in the times that one image's step (t0, dt) passes over.

        `steps` holds y0, f0, y1, f1 and y_mid of the active images, of which `row` is this one.
        """
        t0, dt = clock
        positions = self.passed(t0, t0 + dt)
        if not positions:
            return
        y0, f0, y1, f1, y_mid = (part[row] for part in steps)
        attempt = Attempt(y1, f1, y_mid, y1.new_empty(0))
        for position in positions:
            x = (self.times[position] - t0) / dt
            self.path[image, position] = interpolate(x, dt, (y0, f0), attempt)
