"""Which images share a clock, and so a step size: the whole batch, or each image its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.device import double, sum_of_squares

__all__ = ["ErrorNorm"]


@dataclass(frozen=True)
class ErrorNorm:
    """The root mean square that a clock is set by.

    Attributes
    ----------
    shared : bool
        One clock for all images (the mean runs over the batch too), or one clock per image.
    elements : int
        Numbers in one image's state.
    reduce : callable or None
        Adds a tensor up over processes that step together, for data-parallel training.
    """

    shared: bool
    elements: int
    reduce: Callable[[Tensor], Tensor] | None = None

    def __call__(self, squares: Tensor) -> Tensor:
        """Turn each image's sum of squares, shape (n,), into the norm of each clock, shape (1,) or (n,).

        Examples
        --------
        >>> ErrorNorm(True, 2)(torch.tensor([2.0, 6.0])).tolist()
        [1.4142135623730951]
        """
        squares = double(squares).cpu()
        if not self.shared:
            return (squares / self.elements).sqrt()
        total = torch.stack([squares.sum(), squares.new_tensor(float(len(squares) * self.elements))])
        if self.reduce is not None:
            total = self.reduce(total)
        return (total[0] / total[1]).sqrt().reshape(1)

    def of(self, values: Tensor) -> Tensor:
        """Take the norm of maps, shape (n, ...)."""
        return self(sum_of_squares(values))
