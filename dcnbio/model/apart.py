"""Applies a layer to each image apart, so that no image's bits depend on its batch mates or on the threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from dcnbio.model.full_precision import full_precision

__all__ = ["one_by_one"]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: for a single small image, handing out work costs more than the work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def one_by_one(layer: Callable[[Tensor], Tensor], h: Tensor, apart: bool) -> Tensor:
    """Apply a layer to the batch, or, where `apart`, to each image alone and on one thread.

    Parameters
    ----------
    layer : callable
        Maps (n, ...) to (n, ...).
    h : Tensor, shape (n, ...)
    apart : bool

    Examples
    --------
    >>> one_by_one(lambda x: 2 * x, torch.ones(3, 1), apart=True).tolist()
    [[2.0], [2.0], [2.0]]
    """
    with full_precision(h):
        if not apart or len(h) == 0:
            return layer(h)
        with one_thread():
            return torch.cat([layer(h[i : i + 1]) for i in range(len(h))])
