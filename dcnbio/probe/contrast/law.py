"""The scaling law of block 1, checked in float64 with eps = 0: h_c(c t) = c h_1(t) + (1 - c) b."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import torch
import xarray as xr
from torch import nn

from dcnbio.model.network import Network
from dcnbio.probe.contrast.condition import Condition, Correction, block_1
from dcnbio.probe.contrast.deviation import zero_variance_groups
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.passes import run_condition, stem_bias

__all__ = ["law", "without_eps"]


def without_eps(net: Network) -> Network:
    """Copy a network in float64 with eps = 0 in every norm."""
    changed = copy.deepcopy(net).double()
    for module in changed.modules():
        if isinstance(module, nn.GroupNorm):
            module.eps = 0.0
    return changed


def law(experiment: Experiment) -> xr.Dataset:
    """Compare h_c(c T) with c h_1(T) + (1 - c) b, and the evaluations, where all three that break the law are scaled.

    Returns
    -------
    xarray.Dataset
        ``residual`` (contrast, stimulus): largest difference over the largest |c h_1(T)|; ``nfe`` (contrast,
        stimulus) and ``reference_nfe`` (stimulus) of block 1; ``zero_variance`` (stimulus): groups of h(0) whose values
        are all the same, where the law with eps = 0 has no meaning and the residual is NaN.
    """
    net = without_eps(experiment.net)
    images = experiment.images[: experiment.settings.precise].double()
    solver = replace(experiment.solver)
    groups = net.spec.groups(net.spec.widths[0])
    with torch.no_grad():
        flat = [zero_variance_groups(net.stem(image[None]), groups) for image in images]
    reference = run_condition(net, images, Condition(), solver)
    residual, nfe = [], []
    for c in experiment.settings.attributed:
        found = run_condition(net, images, block_1(c, c, Correction.full()), solver)
        scaled = c * reference.first
        apart = (found.first - scaled - (1 - c) * stem_bias(net)).abs().flatten(1).amax(1)
        residual.append((apart / scaled.abs().flatten(1).amax(1)).numpy())
        nfe.append(found.nfe[:, 0].numpy())
    experiment.tick(len(images))
    about = {"long_name": "largest |h_c(c T) - c h_1(T) - (1 - c) b| over largest |c h_1(T)|", "units": "1"}
    work = {"long_name": "function evaluations of block 1", "units": "1"}
    return xr.Dataset(
        {
            "residual": (("contrast", "stimulus"), np.stack(residual), about),
            "nfe": (("contrast", "stimulus"), np.stack(nfe), work),
            "reference_nfe": ("stimulus", reference.nfe[:, 0].numpy(), work),
            "zero_variance": ("stimulus", flat, {"long_name": "constant groups of h(0)", "units": "1"}),
        },
        {"contrast": list(experiment.settings.attributed)},
    )
