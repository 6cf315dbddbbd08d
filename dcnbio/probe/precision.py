"""Holds a network still while it is measured: evaluation mode, no gradients, no TF32, everything put back after."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator

import torch

from dcnbio.errors import InputError
from dcnbio.model.given_network import check_network
from dcnbio.model.network import Network
from dcnbio.probe.float32_arithmetic import float32_arithmetic

__all__ = ["held_still", "moved"]


@contextlib.contextmanager
def held_still(net: Network) -> Iterator[None]:
    """Evaluate without gradients and in full float32 precision inside the block."""
    modes = [(module, module.training) for module in net.modules()]
    device = next(net.parameters()).device.type
    net.eval()
    try:
        with float32_arithmetic(), torch.no_grad(), torch.autocast(device, enabled=False):
            yield
    finally:
        # each on its own: a person may have frozen a part of the network
        for module, training in modes:
            module.training = training


def moved(net: Network, dtype: torch.dtype, device: str) -> Network:
    """Give the network in a type and on a device: a copy where that changes it, so that the original stays."""
    check_network(net)
    weight = next(net.parameters())
    if weight.dtype not in (torch.float32, torch.float64):
        raise InputError(
            f"the network's weights are {weight.dtype}; the solver controls its error in float32 or float64, so use "
            "net.float(), or the weights from before they were rounded."
        )
    if weight.dtype == dtype and weight.device == torch.device(device):
        return net
    return copy.deepcopy(net).to(device=device, dtype=dtype)
