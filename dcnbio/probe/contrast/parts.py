"""The parts of a contrast experiment that compare images one by one: accuracy curves, factorial, tolerances."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import torch
import xarray as xr

from dcnbio.probe.contrast.condition import FACTORS, Condition, Correction, block_1
from dcnbio.probe.contrast.deviation import logit_deviation
from dcnbio.probe.contrast.measured import Experiment, arranged

__all__ = ["PROTOCOLS", "factorial", "response", "tolerance"]

PROTOCOLS = ("fixed T", "T-hat")
TIGHT = 1e-5


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


def tolerance(experiment: Experiment) -> xr.Dataset:
    """Measure the solver's error and its evaluations, at contrast 1 with looser tolerances and with T-hat at c.

    The error is that of block 1's solve alone: each is compared with a tight solve of the same equation, and the
    other blocks are solved tightly in all.

    Returns
    -------
    xarray.Dataset
        ``loose_error``, ``loose_nfe`` (factor, stimulus): contrast 1; ``error``, ``nfe`` (contrast, stimulus): T-hat.
        Evaluations are block 1's.
    """
    settings, solver = experiment.settings, experiment.solver
    tight = replace(solver, rtol=min(TIGHT, solver.rtol / 10), atol=min(TIGHT, solver.atol / 10))
    exact = experiment.run(Condition(), tight, tight).logits
    # blocks 2 and 3 are solved tightly throughout, so that what is seen is block 1's error
    looser = [replace(solver, rtol=k * solver.rtol, atol=k * solver.atol) for k in settings.looser]
    loose = [experiment.run(Condition(), first, tight) for first in looser]
    scaled, exactly = [], []
    for c in settings.attributed:
        scaled.append(experiment.run(block_1(c, c), solver, tight))
        exactly.append(experiment.run(block_1(c, c, Correction(tolerance=True)), tight, tight).logits)
    pairs = zip(scaled, exactly, strict=True)
    found = {
        "loose_error": (("factor", "stimulus"), [logit_deviation(p.logits, exact).numpy() for p in loose]),
        "loose_nfe": (("factor", "stimulus"), [p.nfe[:, 0].numpy() for p in loose]),
        "error": (("contrast", "stimulus"), [logit_deviation(p.logits, true).numpy() for p, true in pairs]),
        "nfe": (("contrast", "stimulus"), [p.nfe[:, 0].numpy() for p in scaled]),
    }
    coords = {"factor": list(settings.looser), "contrast": list(settings.attributed)}
    dataset = xr.Dataset({name: (dims, np.stack(values)) for name, (dims, values) in found.items()}, coords)
    for name, variable in dataset.data_vars.items():
        said = "error of the logits by the solve" if "error" in str(name) else "function evaluations of block 1"
        variable.attrs = {"long_name": said, "units": "1"}
    dataset["factor"].attrs = {"long_name": "factor of the tolerance of block 1 at contrast 1", "units": "1"}
    return dataset
