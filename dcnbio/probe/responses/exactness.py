"""How exactly units are solved: norms divide by contrast, of which faint stimuli have little, and a blank none."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["TOLERANCE", "doubled", "tightened", "without_contrast"]

# Measured on dcn-ode, root mean square over channels of z's error at T, where z has a spread of 1: at a tolerance of
# 1e-3, 0.006 for a grating over the image, 0.3 at an eighth of its contrast, 0.5 in a window of 4 pixels and for the
# blank. At 1e-6 it is under 0.01 for all but the blank, which rounds off in float32.
TOLERANCE = 1e-6


def tightened(solver: SolverSettings, tolerance: float | None) -> SolverSettings:
    """Give a solver at least as exact as a tolerance; as it is where there is none.

    Parameters
    ----------
    solver : SolverSettings
    tolerance : float or None
        Of rtol and atol.

    Returns
    -------
    SolverSettings

    Examples
    --------
    >>> found = tightened(SolverSettings(rtol=1e-3, atol=1e-8), 1e-6)
    >>> found.rtol, found.atol
    (1e-06, 1e-08)
    """
    if tolerance is None:
        return solver
    return replace(solver, rtol=min(solver.rtol, tolerance), atol=min(solver.atol, tolerance))


def without_contrast(images: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say which images (n, 3, y, x) are uniform in every channel.

    A norm of such a map divides the rounding error that is there by the square root of eps; the border that zero
    padding makes is all that h then grows from, within the first hundredths of solver time.

    Parameters
    ----------
    images : float array [n, 3, y, x]

    Returns
    -------
    bool array [n]

    Examples
    --------
    >>> without_contrast(np.stack([np.full((3, 2, 2), 0.5), np.eye(2)[None].repeat(3, 0)])).tolist()
    [True, False]
    """
    return np.asarray(np.ptp(images, axis=(2, 3)).max(axis=1) == 0)


def doubled(net: Network) -> Network:
    """Give a copy in float64 on the processor; the network itself where its vector field is a user's own.

    Parameters
    ----------
    net : Network

    Returns
    -------
    Network

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> next(doubled(build("dcn-ode", widths=(2,), norm_groups=2)).parameters()).dtype
    torch.float64
    """
    if net.spec.vector_field or next(net.readout.parameters()).dtype == torch.float64:
        return net
    return copy.deepcopy(net).cpu().double()
