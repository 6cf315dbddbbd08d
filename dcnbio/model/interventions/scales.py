"""Scales multiplied: every structured receptive field of the blocks made larger or smaller."""

from __future__ import annotations

import copy
import math

import torch

from dcnbio.errors import InputError
from dcnbio.model.given_network import check_network
from dcnbio.model.interventions.noted import noted
from dcnbio.model.network import Network
from dcnbio.model.srf_conv import SRFConv2d

__all__ = ["block_convs", "scale_sigma"]


def block_convs(net: Network) -> list[SRFConv2d]:
    """List the SRF layers inside the blocks."""
    found = [module for module in net.blocks.modules() if isinstance(module, SRFConv2d)]
    if not found:
        raise InputError(f"{net.spec.row} has no SRF layers in its blocks, so nothing to change in them; choose a DCN.")
    return found


@torch.no_grad()
def scale_sigma(net: Network, factor: float) -> Network:
    """Give a copy with sigma of all SRF layers in the blocks times a factor, at every solver time.

    Filters are scale-normalised, so that their gains stay; a layer with one sigma for all gets a window to match, per-
    pair filters keep theirs, and large ones are cut.

    Parameters
    ----------
    net : Network
    factor : float
        Above 0; 1 changes nothing.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If the factor is not positive, or the blocks have no SRF layers.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4,), norm_groups=4)
    >>> before, after = (n.blocks[0].field.conv1.log2_sigma.offset.item() for n in (net, scale_sigma(net, 2.0)))
    >>> round(after - before, 4)
    1.0
    """
    check_network(net)
    if not (math.isfinite(factor) and factor > 0):
        raise InputError(f"factor is {factor}; sigma is multiplied by a finite number above 0.")
    changed = copy.deepcopy(net)
    for conv in block_convs(changed):
        conv.log2_sigma.offset.add_(math.log2(factor))
    return noted(changed, f"sigma={factor:g}")
