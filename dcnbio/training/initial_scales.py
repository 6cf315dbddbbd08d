"""Other initial scales than the paper's, as controls for what the scales after training owe to their beginning."""

from __future__ import annotations

import math

import torch

from dcnbio.errors import InputError
from dcnbio.model.initial import SIGMA_SD
from dcnbio.model.network import Network
from dcnbio.model.srf_conv import SRFConv2d

__all__ = ["set_initial_sigma"]


@torch.no_grad()
def set_initial_sigma(net: Network, kind: str, generator: torch.Generator) -> None:
    """Set every log2 sigma to 0 ("constant"), or draw it uniformly with the paper's standard deviation.

    Parameters
    ----------
    net : Network
        Changed in place; "paper" leaves it as it is.
    kind : str
        "paper", "constant" or "log2-uniform".
    generator : torch.Generator

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-sigma-ji", widths=(4,), norm_groups=4)
    >>> set_initial_sigma(net, "constant", torch.Generator())
    >>> float(net.block(1).field.conv1.log2_sigma.offset.detach().abs().max())
    0.0
    """
    if kind == "paper":
        return
    layers = [module for module in net.modules() if isinstance(module, SRFConv2d)]
    if not layers or any(layer.rule.sigma_degree for layer in layers):
        raise InputError(f"initial_sigma is {kind!r}, but {net.spec.row} has no scales that are constant in time.")
    bound = math.sqrt(3) * SIGMA_SD
    for layer in layers:
        if kind == "constant":
            layer.log2_sigma.offset.zero_()
        else:
            layer.log2_sigma.offset.uniform_(-bound, bound, generator=generator)
