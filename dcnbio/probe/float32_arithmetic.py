"""Keeps float32 what it says while a network is measured: no TF32 and no bfloat16 inside products and convolutions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["float32_arithmetic"]

EXACT, INHERITED = "ieee", "none"


@contextlib.contextmanager
def float32_arithmetic() -> Iterator[None]:
    """Compute float32 in float32 inside the block, on CUDA and the CPU; every setting is put back after.

    Torch has two interfaces for it. The older refuses to be read once the two say different things, so it is set where
    it can be read, and the newer (``fp32_precision``) where torch has it; inside the block the two agree.

    Examples
    --------
    >>> before = torch.get_float32_matmul_precision()
    >>> torch.set_float32_matmul_precision("high")
    >>> with float32_arithmetic():
    ...     torch.get_float32_matmul_precision()
    'highest'
    >>> torch.get_float32_matmul_precision()
    'high'
    >>> torch.set_float32_matmul_precision(before)
    """
    newer = [(part, part.fp32_precision) for part in parts()]
    products, convolutions = older_settings()
    if products is not None:
        torch.set_float32_matmul_precision("highest")
    if convolutions is not None:
        torch.backends.cudnn.allow_tf32 = False
    for part, _ in newer:
        part.fp32_precision = EXACT
    try:
        yield
    finally:
        if products is not None:
            torch.set_float32_matmul_precision(products)
        if convolutions is not None:
            torch.backends.cudnn.allow_tf32 = convolutions
        for part, was in newer:
            # what it had from a setting above, it has from there again
            part.fp32_precision = INHERITED
            if part.fp32_precision != was:
                part.fp32_precision = was


def older_settings() -> tuple[str | None, bool | None]:
    """Read the older interface: of products, and of cuDNN's convolutions; None where it refuses."""
    products: str | None = None
    convolutions: bool | None = None
    with contextlib.suppress(RuntimeError):
        products = torch.get_float32_matmul_precision()
    with contextlib.suppress(RuntimeError):
        convolutions = torch.backends.cudnn.allow_tf32
    return products, convolutions


def parts() -> list[Any]:
    """Give what the newer interface sets one by one; nothing in versions of torch that lack it."""
    backends: Any = torch.backends
    places = [("cuda", "matmul"), ("cudnn", "conv"), ("cudnn", "rnn"), ("mkldnn", "matmul"), ("mkldnn", "conv")]
    found = [getattr(getattr(backends, backend), name, None) for backend, name in places]
    return [part for part in found if hasattr(part, "fp32_precision")]
