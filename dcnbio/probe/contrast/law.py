"""The scaling law of block 1, checked in float64 with eps = 0: h_c(c t) = c h_1(t) + (1 - c) b."""

from __future__ import annotations

import copy

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
        are all the same. Such an image has no norm without eps: its residual is NaN and its evaluations are 0.
    """
    net, contrasts = without_eps(experiment.net), experiment.settings.attributed
    images = experiment.images.double()
    with torch.no_grad():
        groups = net.spec.groups(net.spec.widths[0])
        flat = np.array([zero_variance_groups(net.stem(image[None]), groups) for image in images])
    usable = flat == 0
    residual = np.full((len(contrasts), len(flat)), np.nan)
    nfe, reference_nfe = np.zeros(residual.shape, dtype=np.int64), np.zeros(len(flat), dtype=np.int64)
    experiment.tick(len(images))
    images = images[torch.from_numpy(usable)]
    if len(images):
        reference = run_condition(net, images, Condition(), experiment.solver)
        reference_nfe[usable] = reference.nfe[:, 0].numpy()
        for i, c in enumerate(contrasts):
            found = run_condition(net, images, block_1(c, c, Correction.full()), experiment.solver)
            scaled = c * reference.first
            apart = (found.first - scaled - (1 - c) * stem_bias(net).cpu()).abs().flatten(1).amax(1)
            residual[i, usable] = (apart / scaled.abs().flatten(1).amax(1)).numpy()
            nfe[i, usable] = found.nfe[:, 0].numpy()
    about = {"long_name": "largest |h_c(c T) - c h_1(T) - (1 - c) b| over largest |c h_1(T)|", "units": "1"}
    work = {"long_name": "function evaluations of block 1", "units": "1"}
    dims = ("contrast", "stimulus")
    return xr.Dataset(
        {
            "residual": (dims, residual, about),
            "nfe": (dims, nfe, work),
            "reference_nfe": ("stimulus", reference_nfe, work),
            "zero_variance": ("stimulus", flat, {"long_name": "constant groups of h(0)", "units": "1"}),
        },
        {"contrast": list(contrasts)},
    )
