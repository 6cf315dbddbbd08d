"""The paper's cost structure, built from dcnbio's parts, to be timed beside dcnbio's own.

torchdiffeq's odeint_adjoint, direct convolution, kernels rebuilt at every evaluation, time as a 33rd channel.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchdiffeq import odeint_adjoint

from dcnbio.model.network import Network
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = ["PlainNetwork"]


class PlainField(nn.Module):
    """Eq. 2 as the public code evaluates it; counts its evaluations."""

    def __init__(self, field: ConvField) -> None:
        super().__init__()
        self.field = field
        self.evaluations = 0

    def convolve(self, conv: FieldConv, t: Tensor, h: Tensor) -> Tensor:
        """Join the time channel and convolve with a kernel that is built for this call."""
        joined = torch.cat([torch.ones_like(h[:, :1]) * t, h], 1)
        kernel = conv.kernel(t)
        bias = conv.bias if isinstance(conv, PixelConv2d) else None
        return nn.functional.conv2d(joined, kernel, bias, padding=(kernel.shape[-1] - 1) // 2)

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt."""
        self.evaluations += 1
        field = self.field
        maps = self.convolve(field.conv1, t, field.activation(field.norm1(h)))
        maps = self.convolve(field.conv2, t, field.activation(field.norm2(maps)))
        slope: Tensor = field.norm3(maps)
        return slope


class PlainNetwork(nn.Module):
    """A network with the same weights whose blocks are solved by torchdiffeq."""

    def __init__(self, net: Network) -> None:
        super().__init__()
        self.net = net
        self.fields = nn.ModuleList(PlainField(net.block(i).field) for i in range(1, len(net.blocks) + 1))
        self.nfe: list[int] = []

    def forward(self, images: Tensor) -> Tensor:
        """Give logits; `nfe` then holds the forward evaluations of each block."""
        h = self.net.stem(images)
        self.nfe = []
        for i, field in enumerate(self.fields):
            field.evaluations = 0
            times = torch.tensor([0.0, self.net.spec.integration_time[i]], dtype=h.dtype)
            tolerance = {"rtol": self.net.solver.rtol, "atol": self.net.solver.atol}
            h = odeint_adjoint(field, h, times, method="dopri5", **tolerance)[1]
            self.nfe.append(field.evaluations)
            if i < len(self.net.transitions):
                h = self.net.transitions[i](h)
        logits: Tensor = self.net.readout(h)
        return logits
