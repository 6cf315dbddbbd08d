"""When a step is accepted, and how long the next one is: the control that NFE follows from.

References
----------
.. [1] Hairer, E., Norsett, S. P. and Wanner, G. (1993). Solving Ordinary Differential Equations I, sec. II.4.
   Springer. doi:10.1007/978-3-540-78862-1.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["initial_step", "next_step"]

SAFETY, LARGEST_GROWTH, LARGEST_CUT = 0.9, 10.0, 0.2
ORDER = 5


def next_step(dt: Tensor, ratio: Tensor) -> Tensor:
    """Give the next step from the ratio of the estimated error to what the tolerance allows.

    dt min(10, max(m, 0.9 ratio^(-1/5))), with m = 1 after an accepted step (ratio <= 1) and 0.2 after a rejected one.

    Parameters
    ----------
    dt, ratio : Tensor, shape (n,), float64

    Examples
    --------
    >>> one = torch.ones(3, dtype=torch.float64)
    >>> next_step(one, torch.tensor([0.0, 0.99, 1e9], dtype=torch.float64)).tolist()
    [10.0, 1.0, 0.2]
    """
    least = torch.where(ratio < 1, torch.ones_like(ratio), LARGEST_CUT)
    # a ratio of 0 would be raised to a negative power: it means the largest growth
    wanted = torch.where(ratio == 0, LARGEST_GROWTH, SAFETY * ratio.clamp(min=1e-300) ** (-1 / ORDER))
    return dt * torch.minimum(torch.full_like(dt, LARGEST_GROWTH), torch.maximum(wanted, least))


def initial_step(d0: Tensor, d1: Tensor) -> Tensor:
    """Give the trial step of Hairer, Norsett and Wanner's rule, from the norms of y0 and f0 over the tolerance.

    0.01 d0 / d1, or 1e-6 where one of them is under 1e-5.

    Examples
    --------
    >>> one = torch.ones(2, dtype=torch.float64)
    >>> initial_step(one, torch.tensor([0.5, 0.0], dtype=torch.float64)).tolist()
    [0.02, 1e-06]
    """
    small = (d0 < 1e-5) | (d1 < 1e-5)
    return torch.where(small, torch.full_like(d0, 1e-6), 0.01 * d0 / d1.clamp(min=1e-300))


def settled_step(trial: Tensor, d1: Tensor, d2: Tensor) -> Tensor:
    """Give the first step from the trial step and the norm d2 of (f(t0 + trial, y0 + trial f0) - f0) / trial."""
    largest = torch.maximum(d1, d2)
    flat = largest <= 1e-15
    from_slope = (0.01 / largest.clamp(min=1e-300)) ** (1 / ORDER)
    chosen = torch.where(flat, torch.clamp(trial * 1e-3, min=1e-6), from_slope)
    return torch.minimum(100 * trial, chosen)
