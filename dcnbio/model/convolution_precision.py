"""The type that convolutions are computed in: bfloat16 is for training, where its rounding is one noise of many."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import torch
from torch import Tensor, nn

__all__ = ["convolution_type", "convolutions_in", "convolve", "in_chosen_type"]

Convolution = Callable[[Tensor, Tensor, Tensor | None], Tensor]

_type: ContextVar[torch.dtype | None] = ContextVar("convolution_type", default=None)


def convolution_type() -> torch.dtype | None:
    """Give the type that convolutions are computed in; None where it is that of the maps."""
    return _type.get()


@contextlib.contextmanager
def convolutions_in(dtype: torch.dtype | None) -> Iterator[None]:
    """Compute convolutions in another type inside the block; weights, norms, h and the solver's sums keep theirs.

    It reaches the convolutions of plain torch: those of separable filters, which run in the compiled engine, stay as
    they are. An adaptive solver would take the rounding of bfloat16 (1 part in 256) for error of its steps.

    Parameters
    ----------
    dtype : torch.dtype or None
        None: that of the maps.

    Examples
    --------
    >>> maps, kernel = torch.rand(1, 2, 4, 4), torch.rand(3, 2, 3, 3)
    >>> with convolutions_in(torch.bfloat16):
    ...     found = convolve(maps, kernel)
    >>> found.dtype, bool((found - convolve(maps, kernel)).abs().max() < 0.05)
    (torch.float32, True)
    """
    before = _type.set(dtype)
    try:
        yield
    finally:
        _type.reset(before)


def convolve(maps: Tensor, kernel: Tensor, bias: Tensor | None = None, stride: int = 1, padding: int = 0) -> Tensor:
    """Convolve maps (n, inputs, y, x) with a dense kernel (outputs, inputs, k, k); the answer is of the maps' type."""
    return in_chosen_type(lambda x, k, b: nn.functional.conv2d(x, k, b, stride, padding), maps, kernel, bias)


def in_chosen_type(convolution: Convolution, maps: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
    """Call a convolution of maps, kernel and bias in the chosen type; the answer is of the maps' type."""
    dtype = convolution_type()
    if dtype is None:
        return convolution(maps, kernel, bias)
    # the bias is a sum, not a product: it is added in full precision
    found = convolution(maps.to(dtype), kernel.to(dtype), None).to(maps.dtype)
    return found if bias is None else found + bias.reshape(-1, 1, 1)
