"""Dormand-Prince 5(4): the coefficients of the Runge-Kutta pair, and one step of it in plain torch.

References
----------
.. [1] Dormand, J. R. and Prince, P. J. (1980). A family of embedded Runge-Kutta formulae. J. Comput. Appl. Math. 6,
   19-26. doi:10.1016/0771-050X(80)90013-3.
.. [2] Shampine, L. F. (1986). Some practical Runge-Kutta formulas. Math. Comput. 46, 135-150. doi:10.2307/2008219.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dcnbio.model.device import sum_of_squares

__all__ = ["NODES", "STAGES", "Attempt", "Field", "dense_weights", "midpoint", "stages", "step"]

STAGES = 6  # new evaluations in a step: the first of seven slopes is the last of the step before

# stage times, as fractions of the step
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
# the state of a stage is y0 + dt * sum of these times the slopes before it; the last row is the fifth-order solution
COUPLING = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# fifth-order minus fourth-order weights
ERROR = (
    35 / 384 - 1951 / 21600,
    0.0,
    500 / 1113 - 22642 / 50085,
    125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400,
    11 / 84 - 649 / 6300,
    -1 / 60,
)
# the solution half-way through the step (Shampine 1986)
MIDPOINT = (
    6025192743 / 30085553152 / 2,
    0.0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)

Field = Callable[[Tensor, Tensor], Tensor]


class Attempt(NamedTuple):
    """One attempted step of every image.

    Attributes
    ----------
    y1, f1 : Tensor, shape (n, ...)
        State and slope at the step's end.
    y_mid : Tensor, shape (n, ...)
        State half-way.
    squares : Tensor, shape (n,), float64
        Sum over the image's elements of (error / (atol + rtol max(|y0|, |y1|)))^2.
    """

    y1: Tensor
    f1: Tensor
    y_mid: Tensor
    squares: Tensor


def combine(y0: Tensor, dt: Tensor, weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    """Give y0 + dt * sum of weights times slopes, with a step `dt` of shape (n, 1, ...)."""
    used = [(w, k) for w, k in zip(weights, slopes, strict=False) if w != 0]
    total = used[0][1] * used[0][0]
    for weight, slope in used[1:]:
        total = torch.add(total, slope, alpha=weight)
    return torch.addcmul(y0, dt, total)


def stages(field: Field, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Evaluate the six new stages of a step; give its end state and all seven slopes."""
    y0, f0 = state
    shape = (-1,) + (1,) * (y0.ndim - 1)
    h = dt.to(y0).reshape(shape)
    slopes, y1 = [f0], y0
    for node, weights in zip(NODES, COUPLING, strict=True):
        y1 = combine(y0, h, weights, slopes)
        t = (t0 + node * dt).to(y0)
        slopes.append(field(t[0] if len(t) == 1 else t, y1))
    return y1, slopes


def midpoint(y0: Tensor, dt: Tensor, slopes: list[Tensor]) -> Tensor:
    """Give the state half-way through a step."""
    return combine(y0, dt.to(y0).reshape((-1,) + (1,) * (y0.ndim - 1)), MIDPOINT, slopes)


def step(field: Field, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
    """Attempt one Dormand-Prince step for every image, each with its own time and step.

    Parameters
    ----------
    field : callable
        f(t, y) with t of shape (n,) or a scalar.
    state : tuple of Tensor, shape (n, ...)
        y0 and f0 = f(t0, y0).
    t0, dt : Tensor, shape (n,) or (1,), float64
        Time and step, per image or shared.
    tolerance : tuple of float
        rtol and atol.

    Returns
    -------
    Attempt
        The new state; whether it is good enough is for the step control to say.

    Examples
    --------
    >>> y0 = torch.ones(1, 1, dtype=torch.float64)
    >>> t0, dt = torch.zeros(1, dtype=torch.float64), torch.full((1,), 0.1, dtype=torch.float64)
    >>> attempt = step(lambda t, y: -y, (y0, -y0), t0, dt, (1e-6, 1e-6))
    >>> abs(float(attempt.y1) - 0.9048374180359595) < 1e-9
    True
    """
    y0 = state[0]
    y1, slopes = stages(field, state, t0, dt)
    h = dt.to(y0).reshape((-1,) + (1,) * (y0.ndim - 1))
    rtol, atol = tolerance
    error = combine(torch.zeros_like(y0), h, ERROR, slopes)
    allowed = atol + rtol * torch.maximum(y0.abs(), y1.abs())
    return Attempt(y1, slopes[-1], midpoint(y0, dt, slopes), sum_of_squares(error / allowed))


def dense_weights(x: Tensor) -> Tensor:
    """Give the weights of y0, y1, y_mid, dt f0 and dt f1 in the solution at fraction `x` of a step.

    The quartic that has the right values at 0, 1/2 and 1 and the right slopes at 0 and 1; fourth order in dt. Its error
    is not controlled by the tolerance.

    Parameters
    ----------
    x : Tensor, any shape
        Fractions, 0 to 1.

    Returns
    -------
    Tensor, shape (..., 5)

    Examples
    --------
    >>> dense_weights(torch.tensor([0.5])).tolist()
    [[0.0, 0.0, 1.0, 0.0, 0.0]]
    """
    square = x * x
    return torch.stack(
        [
            1 + square * (-11 + x * (18 - 8 * x)),
            square * (-5 + x * (14 - 8 * x)),
            16 * square * (1 - x) ** 2,
            x * (1 + x * (-4 + x * (5 - 2 * x))),
            square * (1 + x * (-3 + 2 * x)),
        ],
        dim=-1,
    )
