"""Keeps autocast out of what decides a solver's steps, and their gradients: half precision is taken for error."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import torch
from torch import Tensor

__all__ = ["full_precision", "full_precision_back"]


@contextlib.contextmanager
def full_precision(like: Tensor) -> Iterator[None]:
    """Work in the type of the weights inside the block, whether or not it stands in ``torch.autocast``.

    Examples
    --------
    >>> conv, maps = torch.nn.Conv2d(1, 1, 1), torch.zeros(1, 1, 2, 2)
    >>> with torch.autocast("cpu", dtype=torch.bfloat16), full_precision(maps):
    ...     conv(maps).dtype
    torch.float32
    """
    kind = like.device.type
    if not torch.is_autocast_enabled(kind):
        yield
        return
    with torch.autocast(kind, enabled=False):
        yield


@contextlib.contextmanager
def full_precision_back(like: Tensor) -> Iterator[None]:
    """Take a solve's gradients in the type of the weights, and warn where the rest of the pass will not be.

    What makes a kernel of alpha and sigma, and the layers around the blocks, are torch's own graph: a backward pass
    inside ``torch.autocast`` multiplies matrices of it in half precision, and torch advises against that.
    """
    if torch.is_autocast_enabled(like.device.type):
        warnings.warn(
            "backward() is called inside torch.autocast, which rounds gradients of kernels and of layers around the "
            "blocks to half precision; call it outside, as torch advises.",
            stacklevel=2,
        )
    with full_precision(like):
        yield
