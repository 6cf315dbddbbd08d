"""Keeps autocast out of what decides a solver's steps, and of their gradients: half precision would be taken for error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

__all__ = ["full_precision"]


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
