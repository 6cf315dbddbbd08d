"""The receptive-field scales of a network's layers: sigma in pixels, nominal and as the sampled kernel has it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.network import Network
from dcnbio.model.srf_conv import SRFConv2d

__all__ = ["LayerScale", "effective_sigma", "initial_log2_sigma", "layer_label", "layer_scales"]


@dataclass(frozen=True)
class LayerScale:
    """The scale of one SRF layer.

    Attributes
    ----------
    layer : str
        Its name in the network.
    sigma : Tensor, shape (1,) or (inputs, outputs)
        Nominal scale in pixels, at solver time 0.
    effective : Tensor, same shape
        Standard deviation, in pixels, of the sampled and cut Gaussian.
    kernel_size : int
        Width of the kernel in pixels.
    """

    layer: str
    sigma: Tensor
    effective: Tensor
    kernel_size: int


def layer_label(name: str) -> str:
    """Name a layer by its block and convolution, counted from 1.

    Parameters
    ----------
    name : str
        Of its module in the network.

    Returns
    -------
    str

    Examples
    --------
    >>> layer_label("blocks.0.field.conv2"), layer_label("stem"), layer_label("transitions.1.conv")
    ('block1_conv2', 'stem', 'transition2')
    """
    parts = name.split(".")
    if parts[0] == "blocks":
        return f"block{int(parts[1]) + 1}_{'_'.join(part for part in parts[2:] if part != 'field')}"
    return f"transition{int(parts[1]) + 1}" if parts[0] == "transitions" else parts[0]


def effective_sigma(gauss: Tensor) -> Tensor:
    """Give the standard deviation in pixels of sampled Gaussians, shape (..., k), each with a sum of 1.

    Small scales fall between the pixels, large ones are cut by the window: both make it smaller than sigma
    (Lindeberg 2024, doi:10.1007/s10851-024-01196-9).

    Parameters
    ----------
    gauss : Tensor, shape (..., k)
        Sampled Gaussians of k pixels, k odd.

    Returns
    -------
    Tensor, shape (...)
        In pixels.

    Examples
    --------
    >>> from dcnbio.model.gaussian import gaussian_taps, window_half_width
    >>> sigmas = [0.5, 1.0, 5.0]
    >>> taps = [gaussian_taps(s, 0, window_half_width(s))[0] for s in torch.tensor(sigmas).double()]
    >>> [round(float(effective_sigma(g)), 4) for g in taps]
    [0.4637, 0.998, 4.6567]
    """
    half = (gauss.shape[-1] - 1) // 2
    x = torch.arange(-half, half + 1, dtype=gauss.dtype, device=gauss.device)
    return (gauss * x**2).sum(-1).sqrt()


@torch.no_grad()
def layer_scales(net: Network, t: float = 0.0) -> list[LayerScale]:
    """List the scales of all SRF layers in order of depth, at solver time `t`.

    Parameters
    ----------
    net : Network
    t : float
        Solver time, which only sigma^t rows depend on.

    Returns
    -------
    list of LayerScale
        Sigma and effective sigma in pixels.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> [scale.layer for scale in layer_scales(build("dcn-ode"))][:2]
    ['blocks.0.field.conv1', 'blocks.0.field.conv2']
    """
    found = []
    for name, module in in_depth_order(net):
        time = torch.tensor(t, dtype=torch.float64)
        taps = module.taps(time)
        found.append(LayerScale(name, module.sigma(time), effective_sigma(taps[..., 0, :]), taps.shape[-1]))
    return found


def in_depth_order(net: Network) -> list[tuple[str, SRFConv2d]]:
    """List the SRF layers as an image meets them: stem, block, transition, block, ..."""
    stages = ["stem"]
    for i in range(len(net.blocks)):
        stages += [f"blocks.{i}.", f"transitions.{i}."]
    layers = [(name, module) for name, module in net.named_modules() if isinstance(module, SRFConv2d)]
    return [layer for stage in stages for layer in layers if layer[0].startswith(stage)]


@torch.no_grad()
def initial_log2_sigma(net: Network) -> dict[str, list[float]]:
    """Read log2 sigma (at time 0) of every SRF layer, flattened, to be kept in a checkpoint's header.

    Parameters
    ----------
    net : Network

    Returns
    -------
    dict of str to list of float
        log2 of sigma in pixels, by layer.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> len(initial_log2_sigma(build("dcn-ode")))
    6
    """
    zero = torch.zeros(())
    return {name: module.log2_sigma(zero).flatten().tolist() for name, module in in_depth_order(net)}
