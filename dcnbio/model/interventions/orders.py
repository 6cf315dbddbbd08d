"""Derivative orders silenced: what a network does without its edge filters, its bar filters or its blur."""

from __future__ import annotations

import copy
from collections.abc import Collection

import torch

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count
from dcnbio.model.gaussian import basis_orders
from dcnbio.model.given_network import check_network
from dcnbio.model.interventions.noted import noted
from dcnbio.model.interventions.scales import block_convs
from dcnbio.model.network import Network

__all__ = ["silence_orders"]


@torch.no_grad()
def silence_orders(net: Network, orders: Collection[int]) -> Network:
    """Give a copy in whose blocks alpha of all basis functions of some total orders l + k is 0 (eq. 1).

    Order 0 is the Gaussian itself, order 1 its two gradients, order 2 its three second derivatives.

    Parameters
    ----------
    net : Network
    orders : collection of int
        From 0 to the network's kernel order.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If an order does not exist, or the blocks have no SRF layers.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = silence_orders(build("dcn-ode", widths=(4,), norm_groups=4), {1})
    >>> net.blocks[0].field.conv1.alpha.offset.abs().sum((1, 2)).gt(0).tolist()
    [True, False, True, True, False, True]
    """
    check_network(net)
    most = net.spec.kernel_order
    for order in orders:
        count("an order", order, 0)
    if not orders or not all(0 <= order <= most for order in orders):
        raise InputError(
            f"orders are {sorted(orders)}; give some from 0 to {most}, the order of this network's filters."
        )
    changed = copy.deepcopy(net)
    silenced = [i for i, pair in enumerate(basis_orders(most)) if sum(pair) in orders]
    for conv in block_convs(changed):
        for parameter in conv.alpha.parameters():
            parameter[silenced] = 0
    return noted(changed, f"orders={','.join(map(str, sorted(orders)))}")
