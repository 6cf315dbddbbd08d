"""The solver's error and its evaluations in block 1: at contrast 1 with looser tolerances, and with T-hat at c."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.contrast.condition import Condition, Correction, block_1, loosened
from dcnbio.probe.contrast.deviation import logit_deviation
from dcnbio.probe.contrast.measured import Experiment

__all__ = ["EQUATIONS", "tolerance"]

EQUATIONS = ("as it is", "scaled along")  # eps and the time term
TIGHT = 1e-5
ERROR = {"long_name": "error of the logits by the solve", "units": "1"}
WORK = {"long_name": "function evaluations of block 1", "units": "1"}
FACTOR = {"long_name": "factor of tolerance and first step of block 1 at contrast 1", "units": "1"}


def tight(solver: SolverSettings) -> SolverSettings:
    """Give the solver whose error is nothing beside that of the other."""
    return replace(solver, rtol=min(TIGHT, solver.rtol / 10), atol=min(TIGHT, solver.atol / 10))


def true_logits(experiment: Experiment, condition: Condition) -> torch.Tensor:
    """Solve all blocks tightly."""
    exactly = tight(experiment.solver)
    return experiment.run(condition, exactly, exactly).logits


def error_and_work(
    experiment: Experiment, condition: Condition, true: torch.Tensor
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Solve block 1 as asked and the others tightly, so that what is seen is block 1's error; each of shape (n,)."""
    found = experiment.run(condition, experiment.solver, tight(experiment.solver))
    return logit_deviation(found.logits, true).numpy(), found.nfe[:, 0].numpy()


def tolerance(experiment: Experiment) -> xr.Dataset:
    """Measure the solver's error and its evaluations, at contrast 1 with looser tolerances and with T-hat at c.

    A looser tolerance begins with a first step that is longer by the same factor, as the law has it: low contrast with
    atol and first step unchanged is contrast 1 with both divided by c. The error is that of block 1's solve alone: each
    is compared with a tight solve of the same equation, and the other blocks are solved tightly in all.

    Returns
    -------
    xarray.Dataset
        ``loose_error``, ``loose_nfe`` (factor, stimulus): contrast 1; ``error``, ``nfe`` (contrast, equation,
        stimulus): T-hat, with eps and time term as they are, and scaled along, where by the law the equation is that of
        contrast 1. Evaluations are block 1's.
    """
    factors, contrasts = experiment.settings.looser, experiment.settings.attributed
    true = true_logits(experiment, Condition())
    loose = [error_and_work(experiment, loosened(factor), true) for factor in factors]
    scaled = []
    for c, along in itertools.product(contrasts, (False, True)):
        true = true_logits(experiment, block_1(c, c, Correction(along, along, tolerance=True)))
        scaled.append(error_and_work(experiment, block_1(c, c, Correction(along, along)), true))
    cells, dims = (len(contrasts), len(EQUATIONS), -1), ("contrast", "equation", "stimulus")
    (loose_error, loose_nfe), (error, nfe) = (zip(*found, strict=True) for found in (loose, scaled))
    return xr.Dataset(
        {
            "loose_error": (("factor", "stimulus"), np.stack(loose_error), ERROR),
            "loose_nfe": (("factor", "stimulus"), np.stack(loose_nfe), WORK),
            "error": (dims, np.stack(error).reshape(cells), ERROR),
            "nfe": (dims, np.stack(nfe).reshape(cells), WORK),
        },
        {"factor": ("factor", list(factors), FACTOR), "contrast": list(contrasts), "equation": list(EQUATIONS)},
    )
