"""Ordinary convolution with free pixel weights, read through the same verbs as a structured receptive field."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

__all__ = ["PixelConv2d"]


class PixelConv2d(nn.Conv2d):
    """A convolution with free weights whose kernel does not depend on solver time.

    Examples
    --------
    >>> import torch
    >>> conv = PixelConv2d(3, 8, 3, padding=1)
    >>> tuple(conv.kernel(torch.tensor(0.5)).shape)
    (8, 3, 3, 3)
    """

    time_dependent: ClassVar[bool] = False

    def kernel(self, t: Tensor) -> Tensor:
        """Give the kernel, shape (outputs, inputs, k, k), the same at every time `t`."""
        return self.weight
