"""Collects the solution at the wanted times from the steps that pass over them."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt, dense_weights

__all__ = ["DenseOutput", "interpolate"]


def interpolate(x: Tensor, dt: Tensor, state: tuple[Tensor, Tensor], attempt: Attempt) -> Tensor:
    """Evaluate the quartic of one step at fraction `x`, always by the same operations in the same order.

    So that h(T) has the same bits however many other times are asked for. `x` and `dt` are scalars in float64.
    """
    (y0, f0), (y1, f1, y_mid, _) = state, attempt
    weights = dense_weights(x)
    slopes = (weights[3:] * dt).to(y0)
    values = weights[:3].to(y0)
    total = y0 * values[0]
    for part, weight in ((y1, values[1]), (y_mid, values[2]), (f0, slopes[0]), (f1, slopes[1])):
        total = torch.addcmul(total, part, weight)
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

    def add(self, images: slice | int, clock: tuple[Tensor, Tensor], state: tuple[Tensor, Tensor], to: Attempt) -> None:
        """Fill in the times that a step (t0, dt) passes over, for the images that took it together."""
        t0, dt = clock
        start, end = float(t0.detach()), float((t0 + dt).detach())
        for position, time in enumerate(self.times):
            if start < time <= end:
                self.path[images, position] = interpolate((time - t0) / dt, dt, state, to)
