"""The parts of a contrast experiment that compare images one by one: accuracy curves and the factorial."""

from __future__ import annotations

import itertools

import numpy as np
import torch
import xarray as xr

from dcnbio.probe.contrast.condition import FACTORS, Correction, block_1
from dcnbio.probe.contrast.measured import Experiment, arranged

__all__ = ["PROTOCOLS", "factorial", "response"]

PROTOCOLS = ("fixed T", "T-hat")


def response(experiment: Experiment) -> xr.Dataset:
    """Scale the images by c, with T fixed, and with T-hat = c T in block 1.

    Returns
    -------
    xarray.Dataset
        ``answer``, ``logit_deviation``, ``map_deviation`` (protocol, contrast, stimulus), ``nfe`` (.., block); and
        ``reference_answer`` (stimulus), ``reference_nfe`` (stimulus, block) at contrast 1.
    """
    contrasts = experiment.settings.contrasts
    cells = []
    for protocol, c in itertools.product(PROTOCOLS, contrasts):
        condition = block_1(c, c if protocol == "T-hat" else 1.0)
        cells.append(experiment.measures(experiment.run(condition)))
    coords = {"protocol": list(PROTOCOLS), "contrast": list(contrasts)}
    found = arranged(cells, ("protocol", "contrast"), coords, len(experiment.net.blocks))
    return with_reference(experiment, found)


def factorial(experiment: Experiment) -> xr.Dataset:
    """Run T-hat with each of the three that break the law left as it is (0) or scaled along with contrast (1).

    Returns
    -------
    xarray.Dataset
        As `response`, over (contrast, eps, time_term, solver_tolerance, stimulus).
    """
    contrasts = experiment.settings.attributed
    cells = []
    for c, levels in itertools.product(contrasts, itertools.product((False, True), repeat=len(FACTORS))):
        condition = block_1(c, c, Correction(*levels))
        cells.append(experiment.measures(experiment.run(condition)))
    coords = {"contrast": list(contrasts), **{name: [0, 1] for name in FACTORS}}
    found = arranged(cells, ("contrast", *FACTORS), coords, len(experiment.net.blocks))
    return with_reference(experiment, found)


def with_reference(experiment: Experiment, found: xr.Dataset) -> xr.Dataset:
    """Add what contrast 1 gave."""
    reference = experiment.reference
    answer = torch.where(reference.solved, reference.logits.argmax(1), -1).numpy().astype(np.int16)
    found["reference_answer"] = ("stimulus", answer, {"long_name": "class at contrast 1", "units": "1"})
    about = {"long_name": "function evaluations at contrast 1", "units": "1"}
    found["reference_nfe"] = (("stimulus", "block"), reference.nfe.numpy(), about)
    return found
