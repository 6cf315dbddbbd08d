"""Where the recorded unit of each channel sits in its map, and which pixel of the image it looks at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.network import Network
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import FieldConv

__all__ = ["UnitPosition", "unit_position"]

IMAGE = 32


@dataclass(frozen=True)
class UnitPosition:
    """The place of a block's recorded units, one per channel.

    Attributes
    ----------
    block : int
        From 1.
    size : tuple of int
        Height and width of the block's maps.
    rows, columns : slice
        Of the map; more than one unit's where they are averaged.
    pixel : tuple of float
        (y, x) of the image that the unit looks at, by the geometry of the layers; the upper left pixel is (0, 0).
    spacing : float
        Distance in pixels of the image between neighbouring units of the map.
    """

    block: int
    size: tuple[int, int]
    rows: slice
    columns: slice
    pixel: tuple[float, float]
    spacing: float

    def of(self, maps: Tensor) -> Tensor:
        """Read the unit of each channel from maps (..., c, y, x); shape (..., c)."""
        return maps[..., self.rows, self.columns].mean((-2, -1))

    @property
    def highest_frequency(self) -> float:
        """Nyquist's frequency of the maps in cycles/pixel of the image."""
        return 0.5 / self.spacing


def geometry(conv: FieldConv) -> tuple[int, float]:
    """Give the stride of a layer, and the input index at the middle of the window of its output 0."""
    if isinstance(conv, SRFConv2d):
        return conv.stride, 0.0
    size, stride, padding = conv.kernel_size[0], conv.stride[0], conv.padding[0]
    return int(stride), (size - 1) / 2 - float(padding)


@torch.no_grad()
def map_sizes(net: Network) -> list[tuple[int, int]]:
    """Give height and width of the maps of every block."""
    weight = next(net.readout.parameters())
    h = net.stem(torch.zeros(1, 3, IMAGE, IMAGE, dtype=weight.dtype, device=weight.device))
    sizes = [(h.shape[-2], h.shape[-1])]
    for transition in net.transitions:
        h = transition(h)
        sizes.append((h.shape[-2], h.shape[-1]))
    return sizes


def unit_position(net: Network, block: int) -> UnitPosition:
    """Find the recorded unit of a block: that in the middle of its map.

    A map of even size has no middle. In block 1 the unit after it is taken, on which stimuli are centred in their turn:
    a mean over the central 2 x 2 would multiply its frequency tuning by cos(pi f_x) cos(pi f_y). In later blocks the
    central 2 x 2 are averaged, whose spacing is small against their fields.

    Parameters
    ----------
    net : Network
    block : int
        From 1.

    Returns
    -------
    UnitPosition

    Raises
    ------
    InputError
        If there is no such block.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode")
    >>> [unit_position(net, block).pixel for block in (1, 2, 3)]
    [(16.0, 16.0), (15.5, 15.5), (14.5, 14.5)]
    """
    net.block(block)  # for its refusal
    size = map_sizes(net)[block - 1]
    places = []
    for length in size:
        start = length // 2 if block == 1 or length % 2 else length // 2 - 1
        places.append(slice(start, length // 2 + 1))
    spacing, offset = geometry(net.stem)
    for transition in list(net.transitions)[: block - 1]:
        stride, first = geometry(transition.conv)  # type: ignore[arg-type]
        offset, spacing = offset + spacing * first, spacing * stride
    y, x = (offset + spacing * (place.start + place.stop - 1) / 2 for place in places)
    return UnitPosition(block, size, places[0], places[1], (float(y), float(x)), float(spacing))
