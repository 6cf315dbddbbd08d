"""Initial values, drawn from a generator that is passed in."""

from __future__ import annotations

import math
from collections.abc import Collection

import torch
from torch import Tensor, nn

from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.time_polynomial import TimePolynomial

__all__ = ["initialise"]

# standard deviations of [1]: in the rows whose filters change with time the constant term starts smaller
SIGMA_SD, SIGMA_OFFSET_SD = 2 / 3, 0.1
ALPHA_SD, ALPHA_OFFSET_SD = 0.1, 0.05


@torch.no_grad()
def draw(polynomial: TimePolynomial, sd: float, offset_sd: float, generator: torch.Generator) -> None:
    """Draw a parameter's coefficients; a constant has the larger spread."""
    for name, parameter in polynomial.named_parameters():
        spread = offset_sd if name == "offset" and polynomial.degree > 0 else sd
        nn.init.normal_(parameter, std=spread, generator=generator)


@torch.no_grad()
def draw_uniform(weight: Tensor, bias: Tensor | None, generator: torch.Generator) -> None:
    """Draw free weights as PyTorch does by default: uniform within 1 / sqrt(fan-in)."""
    bound = 1 / math.sqrt(weight[0].numel())
    nn.init.uniform_(weight, -bound, bound, generator=generator)
    if bias is not None:
        nn.init.uniform_(bias, -bound, bound, generator=generator)


def initialise(net: nn.Module, generator: torch.Generator, leave: Collection[nn.Module] = ()) -> None:
    """Draw every trainable value of a network, layer by layer in order.

    alpha ~ N(0, 0.1), log2 sigma ~ N(0, 2/3); in time-dependent rows the coefficients of t have these spreads and the
    constant terms N(0, 0.05) and N(0, 0.1); free weights are uniform within 1 / sqrt(fan-in) (PyTorch's default).
    Modules in `leave`, and what they hold, keep their values.

    Notes
    -----
    log2 sigma is normal, so sigma is log-normal before any training.
    """
    kept = {id(module) for own in leave for module in own.modules()}
    for module in net.modules():
        if id(module) in kept:
            continue
        if isinstance(module, SRFConv2d):
            draw(module.alpha, ALPHA_SD, ALPHA_OFFSET_SD, generator)
            draw(module.log2_sigma, SIGMA_SD, SIGMA_OFFSET_SD, generator)
        elif isinstance(module, (PixelConv2d, nn.Linear)):
            draw_uniform(module.weight, module.bias, generator)
