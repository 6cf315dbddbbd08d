"""Time stands still: the vector field of every block as it is at one solver time, so that it no longer depends on t."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.given_network import check_network
from dcnbio.model.interventions.noted import noted
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import ConvField

__all__ = ["freeze_time"]


class TimelessField(nn.Module):
    """f(t0, h) for every t.

    Parameters
    ----------
    inner : nn.Module
    time : float
    """

    def __init__(self, inner: nn.Module, time: float) -> None:
        super().__init__()
        self.inner, self.time = inner, time

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt as at t0."""
        slope: Tensor = self.inner(torch.full_like(t, self.time), h)
        return slope


def drop_time_channel(field: ConvField) -> None:
    """Take the plane of value t away, which is what it comes to at t = 0; the compiled engine still suits."""
    for conv in field.convs:
        if isinstance(conv, SRFConv2d):
            conv.alpha.offset[:, 0] = 0
        else:
            conv.weight[:, 0] = 0


@torch.no_grad()
def freeze_time(net: Network, time: float = 0.0) -> Network:
    """Give a copy whose vector fields are those of one solver time throughout.

    The time channel, and in rows whose sigma or alpha change the filters, stay as they are at that time.

    Parameters
    ----------
    net : Network
    time : float
        Solver time, at least 0.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If the time is negative, or the network has no ODE blocks.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> frozen = freeze_time(build("dcn-ode", widths=(4,), norm_groups=4))
    >>> field, h = frozen.blocks[0].field, torch.rand(1, 4, 6, 6)
    >>> bool(torch.equal(field(torch.tensor(0.0), h), field(torch.tensor(1.0), h)))
    True
    """
    check_network(net)
    if not (math.isfinite(time) and time >= 0):
        raise InputError(f"time is {time}; time is frozen at a solver time of 0 or more.")
    changed = copy.deepcopy(net)
    if not any(isinstance(block, ODEBlock) for block in changed.blocks):
        raise InputError(
            f"{net.spec.row} has residual blocks, in which there is no time; choose a row with ODE blocks."
        )
    for block in changed.blocks:
        if not isinstance(block, ODEBlock):
            continue
        field = block.field
        if time == 0 and isinstance(field, ConvField) and not any(conv.time_dependent for conv in field.convs):
            drop_time_channel(field)
        else:
            block.field = TimelessField(field, time)
    return noted(changed, f"time={time:g}")
