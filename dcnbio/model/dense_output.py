"""Collects the solution at the wanted times from the steps that pass over them."""

from __future__ import annotations

from bisect import bisect_right

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt, dense_weights
from dcnbio.model.engine import dense_output_fits, fill_dense_output

__all__ = ["DenseOutput", "interpolate"]

Parts = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def interpolate(weights: Tensor, parts: Parts, out: Tensor | None = None) -> Tensor:
    """Add up one step's states and slopes, always by the same operations in the same order.

    So that h(T) has the same bits however many other times are asked for. `weights`, shape (5,), and `parts` are of y0,
    y1, y_mid, f0 and f1, in one type. Without gradients the sum may be made where it is to be, in `out`.
    """
    total = torch.mul(parts[0], weights[0], out=out)
    for part, weight in zip(parts[1:], weights[1:].unbind(), strict=True):
        total = torch.addcmul(total, part, weight, out=out)
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
        self.path = torch.empty((len(h0), len(self.times), *h0.shape[1:]), dtype=h0.dtype, device=h0.device)
        self.filled = torch.zeros(self.path.shape[:2], dtype=torch.bool)
        for position, time in enumerate(self.times):
            if time == start:
                self.path[:, position] = h0
                self.filled[:, position] = True

    def passed(self, start: float, end: float) -> range:
        """Give the positions of the times after `start`, up to `end`."""
        return range(bisect_right(self.times, start), bisect_right(self.times, end))

    def add(self, clock: tuple[Tensor, Tensor], state: tuple[Tensor, Tensor], to: Attempt) -> None:
        """Fill in the times that a step (t0, dt) passes over, which all images took together."""
        t0, dt = clock
        positions = list(self.passed(float(t0.detach()), float((t0 + dt).detach())))
        if not positions:
            return
        parts = (state[0], to.y1, to.y_mid, state[1], to.f1)
        weights = self.weights(positions, t0, dt, parts[0])
        if dense_output_fits(self.path, parts):
            rows = [row for row in range(len(self.path)) for _ in positions]
            self.fill(rows, rows, positions * len(self.path), weights.repeat(len(self.path), 1), parts)
        else:
            for position, own in zip(positions, weights, strict=True):
                self.place(slice(None), position, own, parts)
        self.filled[:, positions] = True

    def add_each(
        self, images: Tensor, rows: Tensor, clock: tuple[Tensor, Tensor], state: tuple[Tensor, Tensor], to: Attempt
    ) -> None:
        """Fill in the times that images' own steps (t0, dt) pass over; `rows` are their places in `state` and `to`."""
        t0, dt = clock
        spans = zip(t0.detach().tolist(), (t0 + dt).detach().tolist(), strict=True)
        owners = [(owner, position) for owner, span in enumerate(spans) for position in self.passed(*span)]
        if not owners:
            return
        owner, positions = (list(column) for column in zip(*owners, strict=True))
        weights = self.weights(positions, t0[owner], dt[owner], state[0])
        parts = (state[0], to.y1, to.y_mid, state[1], to.f1)
        if dense_output_fits(self.path, parts):
            self.fill(rows[owner].tolist(), images[owner].tolist(), positions, weights, parts)
        else:
            places = images.tolist()
            own_parts = [(state[0][r], to.y1[r], to.y_mid[r], state[1][r], to.f1[r]) for r in rows.tolist()]
            for (one, position), own in zip(owners, weights, strict=True):
                self.place(places[one], position, own, own_parts[one])
        self.filled[images[owner], positions] = True

    def weights(self, positions: list[int], t0: Tensor, dt: Tensor, like: Tensor) -> Tensor:
        """Give the weights of a step's parts at some of the times, shape (positions, 5), in the type of `like`."""
        moments = torch.tensor([self.times[position] for position in positions], dtype=torch.float64)
        weights = dense_weights((moments - t0) / dt)
        return torch.cat([weights[:, :3], weights[:, 3:] * dt.reshape(-1, 1)], 1).to(like)

    def fill(self, rows: list[int], images: list[int], positions: list[int], weights: Tensor, parts: Parts) -> None:
        """Fill in maps by the compiled engine, each at one time of one image."""
        times = len(self.times)
        places = [image * times + position for image, position in zip(images, positions, strict=True)]
        fill_dense_output(self.path, parts, rows, places, weights)

    def place(self, images: slice | int, position: int, weights: Tensor, parts: Parts) -> None:
        """Fill in one time of some images."""
        if torch.is_grad_enabled():
            self.path[images, position] = interpolate(weights, parts)
        else:
            interpolate(weights, parts, self.path[images, position])

    def finished(self) -> Tensor:
        """Give the path, NaN where no step came."""
        if not bool(self.filled.all()):
            self.path[~self.filled.to(self.path.device)] = torch.nan
        return self.path
