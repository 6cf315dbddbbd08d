"""Does a conclusion move with the solver? One network, the same images, many tolerances and methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from tqdm import tqdm

from dcnbio.errors import InputError, SolverError
from dcnbio.model.given_network import check_network
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id
from dcnbio.probe.settings import settings_of
from dcnbio.probe.solver_answers import answers_of, compared
from dcnbio.probe.solver_rows import TOLERANCES, SolverRow, solver_rows
from dcnbio.probe.stimuli import Stimuli, as_stimuli, prepared_images

__all__ = ["check_solver"]

BATCH = 25

UNITS = {
    "accuracy": ("accuracy on the intact images", "1"),
    "accuracy_change": ("accuracy minus the reference's, same images", "1"),
    "changed_answers": ("images classified otherwise than by the reference", "images"),
    "unsolved": ("images not solved", "images"),
    "logits_largest": ("largest change of a logit, of the largest logit", "1"),
    "logits_median": ("median over images of the largest change of a logit, of the largest logit", "1"),
    "end_change": ("median over images of |h(T) - reference| / |reference|", "1"),
    "d_change": ("relative change of mean D(T) under the mask, A the intact map's amplitude at 0", "1"),
    "nfe": ("function evaluations, mean over images", "evaluations"),
}


def check_solver(
    net: Network,
    data: xr.Dataset | NDArray[np.floating[Any]] | torch.Tensor | Stimuli,
    tolerances: Sequence[float] = TOLERANCES,
    *,
    mask: int = 14,
    progress: bool = False,
    **settings: Any,
) -> xr.Dataset:
    """Run the same images with many solvers and compare each with dopri5 at the tightest tolerance.

    Parameters
    ----------
    net : Network
    data : xarray.Dataset, array or Tensor
        Images; with labels, accuracy is compared too.
    tolerances : sequence of float
        Of dopri5, rtol = atol; in float64 from 1e-5 down.
    mask : int
        Side of the central mask, pixels, of which D(T) is compared.
    progress : bool
        Show a progress bar.
    **settings
        Of `ProbeSettings`: stepping ("per-image" by default), device, contrast, max_steps.

    Returns
    -------
    xarray.Dataset
        Per ``solver`` (and ``block``): accuracy, accuracy_change, changed_answers, logits_largest, logits_median,
        end_change, d_change, nfe, unsolved. Attributes: ``reference``, ``n``, ``mask``, ``stepping``.

    Raises
    ------
    InputError
        If a setting is not allowed, or the network has no ODE blocks.
    SolverError
        If the reference solves no image.

    Notes
    -----
    The reference is numerical too: that tighter and tighter rows approach it is what speaks for it. Rows of a network
    that learned its solver's steps instead of a flow differ from each other at every tolerance.

    Examples
    --------
    >>> import dcnbio
    >>> net = dcnbio.build("dcn-ode", widths=(8,), norm_groups=4, integration_time=0.5)
    >>> found = check_solver(net, dcnbio.load_images(limit=10), (1e-2, 1e-4))
    >>> found.sizes["solver"], found.attrs["reference"]
    (7, 'dopri5 0.0001')
    """
    check_network(net)
    if net.spec.depth != "ode":
        raise InputError(f"{net.spec.row} has residual blocks and no solver; check a network with ODE blocks.")
    base = settings_of({"batch_size": BATCH, **settings})
    stimuli = as_stimuli(data)
    stimuli = stimuli.usable(len(stimuli))
    images = {
        name: prepared_images(stimuli, replace(base, mask=side)) for name, side in (("intact", None), ("masked", mask))
    }
    rows = solver_rows(tolerances)
    tightest = min((row for row in rows if row.method == "dopri5"), key=lambda row: row.tolerance)
    labels, values, reference = stimuli.labels_for(net), {}, None
    # the reference first: without it nothing can be said
    for row in tqdm([tightest, *(r for r in rows if r != tightest)], desc="solvers", disable=not progress, leave=False):
        found = answers_of(net, images, row, base)
        reference = found if reference is None else reference
        if not reference.solved.any():
            raise SolverError(f"{row.label} solves none of the {len(stimuli)} images; give more steps (--max-steps).")
        values[row] = compared(found, reference, labels)
    return labelled(rows, [values[row] for row in rows]).assign_attrs(
        reference=tightest.label,
        n=len(stimuli),
        mask=mask,
        stepping=base.stepping,
        row=net.spec.row,
        images=stimuli.source,
        weights=weights_id(net.state_dict()),
    )


def labelled(rows: Sequence[SolverRow], values: Sequence[Mapping[str, Any]]) -> xr.Dataset:
    """Give the comparisons their names and units."""
    variables = {
        name: (
            ("solver", "block") if np.ndim(values[0][name]) else ("solver",),
            np.array([value[name] for value in values]),
            {"long_name": about, "units": unit},
        )
        for name, (about, unit) in UNITS.items()
    }
    coordinates = {
        "solver": [row.label for row in rows],
        "method": ("solver", [row.method for row in rows]),
        "tolerance": ("solver", [row.tolerance for row in rows]),
        "steps": ("solver", [row.steps for row in rows]),
        "dtype": ("solver", [row.dtype for row in rows]),
        "block": list(range(1, 1 + len(values[0]["nfe"]))),
    }
    return xr.Dataset(variables, coordinates)
