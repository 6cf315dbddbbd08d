"""The layers of a network, each made as its spec says: stem, block, transition, readout (figure 2 of [1]_).

References
----------
.. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from dcnbio.model.ode_block import ODEBlock, ResidualBlock
from dcnbio.model.pixel_conv import pixel_conv
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = [
    "ACTIVATIONS",
    "Readout",
    "Transition",
    "block_layer",
    "group_norm",
    "ode_block",
    "readout_layer",
    "stem_layer",
    "transition_layer",
]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"celu": nn.functional.celu, "relu": nn.functional.relu}


class Transition(nn.Module):
    """Norm, activation and a convolution with stride 2: from one block to the next."""

    def __init__(self, norm: nn.GroupNorm, activation: Callable[[Tensor], Tensor], conv: FieldConv) -> None:
        super().__init__()
        self.norm, self.activation, self.conv = norm, activation, conv

    def forward(self, h: Tensor) -> Tensor:
        """Halve the maps and widen them."""
        maps: Tensor = self.conv(self.activation(self.norm(h)))
        return maps


class Readout(nn.Module):
    """Norm, activation, global average and a linear map to the classes."""

    def __init__(self, norm: nn.GroupNorm, activation: Callable[[Tensor], Tensor], linear: nn.Linear) -> None:
        super().__init__()
        self.norm, self.activation, self.linear = norm, activation, linear

    def forward(self, h: Tensor) -> Tensor:
        """Give logits, shape (n, classes)."""
        logits: Tensor = self.linear(self.activation(self.norm(h)).mean((2, 3)))
        return logits


def stem_layer(spec: NetworkSpec) -> FieldConv:
    """Make the convolution from RGB to the first block's channels: 3 x 3 without padding, or SRF with padding.

    Parameters
    ----------
    spec : NetworkSpec

    Returns
    -------
    SRFConv2d or PixelConv2d
        Like all layers here, with values that nobody has set yet, see `dcnbio.model.initial`.

    Examples
    --------
    >>> tuple(stem_layer(NetworkSpec(row="mine")).weight.shape)
    (32, 3, 3, 3)
    """
    if spec.outer_kernels == "srf":
        return SRFConv2d(3, spec.widths[0], spec.outer_scale_rule)
    return pixel_conv(3, spec.widths[0], 3)


def block_layer(spec: NetworkSpec, width: int, time: float, field: nn.Module | None = None) -> ODEBlock | ResidualBlock:
    """Make a block: a differential equation, or, in a ResNet row, the one residual step it is the limit of.

    Parameters
    ----------
    spec : NetworkSpec
    width : int
        Channels.
    time : float
        T, in solver time; a residual step has none.
    field : nn.Module, optional
        A user's own vector field in place of eq. 2.

    Returns
    -------
    ODEBlock or ResidualBlock

    Examples
    --------
    >>> block_layer(NetworkSpec(row="mine"), 32, 2.0).integration_time
    2.0
    """
    if spec.depth == "residual":
        conv = partial(block_conv, spec, width, width, bias=False)
        return ResidualBlock(conv, partial(group_norm, spec, width), ACTIVATIONS[spec.activation])
    return ode_block(spec, width, time, field)


def ode_block(spec: NetworkSpec, width: int, time: float, field: nn.Module | None = None) -> ODEBlock:
    """Make a block whose h(t) follows `field`, or eq. 2, from 0 to T; `block_layer` says of what."""
    if field is None:
        # the first input of the field's convolutions is the time channel
        conv = partial(block_conv, spec, width + 1, width, bias=True)
        field = ConvField(conv, partial(group_norm, spec, width), ACTIVATIONS[spec.activation])
    return ODEBlock(field, time)


def transition_layer(spec: NetworkSpec, inputs: int, outputs: int) -> Transition:
    """Make the layer between two blocks, which halves the map: 4 x 4 with stride 2, or SRF with stride 2.

    Parameters
    ----------
    spec : NetworkSpec
    inputs, outputs : int
        Channels of the block before it and of the block after it.

    Returns
    -------
    Transition

    Examples
    --------
    >>> transition_layer(NetworkSpec(row="mine"), 32, 64).conv.kernel_size
    (4, 4)
    """
    conv: FieldConv
    if spec.outer_kernels == "srf":
        conv = SRFConv2d(inputs, outputs, spec.outer_scale_rule, stride=2)
    else:
        conv = pixel_conv(inputs, outputs, 4, stride=2, padding=1)
    return Transition(group_norm(spec, inputs), ACTIVATIONS[spec.activation], conv)


def readout_layer(spec: NetworkSpec) -> Readout:
    """Make the layer from the last block's map to the classes.

    Parameters
    ----------
    spec : NetworkSpec

    Returns
    -------
    Readout

    Examples
    --------
    >>> readout_layer(NetworkSpec(row="mine")).linear.out_features
    10
    """
    width = spec.widths[-1]
    linear: nn.Linear = nn.utils.skip_init(nn.Linear, width, spec.classes)  # type: ignore[no-untyped-call]
    return Readout(group_norm(spec, width), ACTIVATIONS[spec.activation], linear)


def group_norm(spec: NetworkSpec, channels: int) -> nn.GroupNorm:
    """Make a group norm over that many channels."""
    return nn.GroupNorm(spec.groups(channels), channels)


def block_conv(spec: NetworkSpec, inputs: int, outputs: int, *, bias: bool) -> FieldConv:
    """Make one convolution of a block: 3 x 3 pixels, or a structured receptive field, which has no bias."""
    if spec.kernels == "pixel":
        return pixel_conv(inputs, outputs, 3, padding=1, bias=bias)
    return SRFConv2d(inputs, outputs, spec.scale_rule)
