"""Where an image's pixels lie on each block's map, from the layers of a network."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.images import Box
from dcnbio.model.layers import Transition
from dcnbio.model.network import Network
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import FieldConv
from dcnbio.recording.reductions.completion_regions import Convolution, mask_regions, seen_pixels

__all__ = ["block_regions", "convolutions"]


def geometry(conv: FieldConv) -> Convolution:
    """Read kernel, stride and padding of a layer; those of an SRF layer follow from its sigma."""
    if isinstance(conv, SRFConv2d):
        width = int(conv.taps(torch.zeros(())).shape[-1])
        return Convolution(width, conv.stride, (width - 1) // 2)
    return Convolution(conv.kernel_size[0], conv.stride[0], int(conv.padding[0]))


def convolutions(net: Network) -> list[Convolution]:
    """List the layers between the image and the last block's map: the stem and each transition, in order.

    Examples
    --------
    >>> import dcnbio
    >>> [tuple(layer) for layer in convolutions(dcnbio.build("dcn-ode"))]
    [(3, 1, 0), (4, 2, 1), (4, 2, 1)]
    """
    between = [cast("Transition", transition).conv for transition in net.transitions]
    with torch.no_grad():
        return [geometry(conv) for conv in (net.stem, *between)]


def block_regions(net: Network, box: Box, size: int) -> list[NDArray[np.str_]]:
    """Name the positions of each block's map after what they see of a mask, see `mask_regions`."""
    layers = convolutions(net)
    seen = [seen_pixels(layers[:number], size) for number in range(1, len(layers) + 1)]
    return [mask_regions(box, one, one) for one in seen]
