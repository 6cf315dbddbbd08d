"""A parameter that may depend on solver time: constant, linear or quadratic in it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["TimePolynomial", "parameter_time"]

# The public code's constants: the solver may step past T, and the polynomial must not run away there.
EARLIEST, LATEST, PER_TIME = -0.5, 2.5, 0.5


def parameter_time(t: Tensor) -> Tensor:
    """Turn solver time into the time of a parameter polynomial: clipped to [-0.5, 2.5], then halved.

    Examples
    --------
    >>> parameter_time(torch.tensor([-1.0, 1.0, 9.0])).tolist()
    [-0.25, 0.5, 1.25]
    """
    return t.clamp(EARLIEST, LATEST) * PER_TIME


class TimePolynomial(nn.Module):
    """A trainable tensor p(t) = offset + slope u + square u^2 with u = `parameter_time` (t).

    Parameters
    ----------
    shape : tuple of int
        Shape of p.
    degree : int
        0 (constant), 1 or 2: how many of slope and square exist.

    Examples
    --------
    >>> p = TimePolynomial((1,), degree=1)
    >>> _ = nn.init.constant_(p.offset, 3.0), nn.init.constant_(p.slope, 2.0)
    >>> p(torch.tensor(1.0)).tolist()
    [4.0]
    """

    def __init__(self, shape: tuple[int, ...], degree: int = 0) -> None:
        super().__init__()
        self.degree = degree
        self.offset = nn.Parameter(torch.zeros(shape))
        if degree >= 1:
            self.slope = nn.Parameter(torch.zeros(shape))
        if degree >= 2:
            self.square = nn.Parameter(torch.zeros(shape))

    def forward(self, t: Tensor) -> Tensor:
        """Evaluate p at the scalar solver time `t`, wherever that lies."""
        value: Tensor = self.offset
        if self.degree == 0:
            return value
        u = parameter_time(t).to(value)
        value = value + self.slope * u
        return value + self.square * u**2 if self.degree >= 2 else value
