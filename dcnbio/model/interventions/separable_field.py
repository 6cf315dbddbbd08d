"""A vector field of eq. 2 in plain torch but for its convolutions, which run as separable filters in the engine."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dcnbio.model.convolution_form import engine_takes
from dcnbio.model.engine import separable_conv2d
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import ConvField

__all__ = ["SeparableField", "with_separable_filters"]


@dataclass(frozen=True)
class SeparableTimeConv:
    """A convolution of maps and the constant plane t, its first input channel, with one scale for all filters.

    Attributes
    ----------
    taps : Tensor, shape (N + 1, k)
    alpha : Tensor, shape (F, c, c)
    time_map : Tensor, shape (1, c, y, x)
        The convolution of a plane of ones with the time channel's filters.
    """

    taps: Tensor
    alpha: Tensor
    time_map: Tensor

    @classmethod
    def of(cls, conv: SRFConv2d, t: Tensor, like: Tensor) -> SeparableTimeConv:
        """Prepare the filters of `conv` at solver time `t` for maps such as `like`."""
        alpha, taps = conv.alpha(t), conv.taps(t).to(like.dtype)
        ones = torch.ones((1, 1, *like.shape[-2:]), dtype=like.dtype)
        return cls(taps, alpha[:, 1:].contiguous(), separable_conv2d(ones, taps, alpha[:, :1].contiguous()))

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Convolve `h`, shape (n, c, y, x), at the scalar time `t`."""
        return separable_conv2d(h, self.taps, self.alpha) + t.to(h.dtype) * self.time_map


class SeparableField(nn.Module):
    """A `ConvField` whose norms may be of any kind, evaluated with separable filters where the engine is there.

    Parameters
    ----------
    inner : ConvField
        Of structured receptive fields.
    """

    def __init__(self, inner: ConvField) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at the scalar solver time `t`."""
        if not engine_takes(h):
            slope: Tensor = self.inner(t, h)
            return slope
        field = self.inner
        first, second = (SeparableTimeConv.of(conv, t, h) for conv in field.convs if isinstance(conv, SRFConv2d))
        maps = first(t, field.activation(field.norm1(h)))
        maps = second(t, field.activation(field.norm2(maps)))
        change: Tensor = field.norm3(maps)
        return change


def with_separable_filters(field: nn.Module) -> nn.Module:
    """Give the field with separable filters, or as it is where these would not be cheaper."""
    if not isinstance(field, ConvField):
        return field
    separable = all(isinstance(conv, SRFConv2d) and conv.form == "separable" for conv in field.convs)
    return SeparableField(field) if separable else field
