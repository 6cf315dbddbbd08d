"""Ordinary convolution with free pixel weights, read through the same verbs as a structured receptive field."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from dcnbio.model.convolution_precision import in_chosen_type

__all__ = ["PixelConv2d", "pixel_conv"]


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

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return in_chosen_type(super()._conv_forward, input, weight, bias)


def pixel_conv(inputs: int, outputs: int, size: int, **options: Any) -> PixelConv2d:
    """Make a convolution with free weights that draws nothing from the global generator.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    size : int
        Width of the kernel in pixels.
    **options
        Of ``torch.nn.Conv2d``.

    Returns
    -------
    PixelConv2d
        With weights that nobody has set yet, see `dcnbio.model.initial`.

    Examples
    --------
    >>> tuple(pixel_conv(3, 8, 3, padding=1).weight.shape)
    (8, 3, 3, 3)
    """
    conv: PixelConv2d = nn.utils.skip_init(PixelConv2d, inputs, outputs, size, **options)  # type: ignore[no-untyped-call]
    return conv
