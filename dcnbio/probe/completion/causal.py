"""The causal test: the intact map is put into the mask's place at a solver time, and the solve goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.model.network import Network
from dcnbio.model.patch import Patch
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["SOURCES", "Transplant", "transplant"]

SOURCES = ("own", "other")


@dataclass(frozen=True, eq=False)
class Transplant:
    """Class scores after the mask's place was filled in from an intact run.

    Attributes
    ----------
    intact, masked : array [image, class]
        Without any intervention.
    patched : array [source, image, time, class]
        With the image's own intact map, or with that of the next image.
    fraction : array [time]
        When, as a fraction of T.
    """

    intact: NDArray[np.float64]
    masked: NDArray[np.float64]
    patched: NDArray[np.float64]
    fraction: NDArray[np.float64]


def transplant(
    net: Network, images: Tensor, masked: Tensor, place: NDArray[np.bool_], solver: SolverSettings
) -> Transplant:
    """Replace the mask's place on the first block's map by that of an intact run at 0, T/2 and T.

    Parameters
    ----------
    net : Network
    images, masked : Tensor, shape (n, 3, y, x)
    place : bool array [y, x]
        Positions of the first block's map that see any of the mask; at t = 0 all others are those of the intact run,
        so that its own map at t = 0 restores the intact run exactly.
    solver : SolverSettings

    Returns
    -------
    Transplant
    """
    end = net.block(1).integration_time
    fraction = np.array([0.0, 0.5, 1.0]) if net.spec.depth == "ode" else np.array([0.0, 1.0])
    moments = (end * fraction).tolist()
    intact = net.run(images, solver, {1: moments if net.spec.depth == "ode" else 2})
    path = intact.blocks[0].path
    sources = path, path.roll(-1, 0)
    patches = [
        [Patch(1, moment, "replace", source[:, k], region=place) for k, moment in enumerate(moments)]
        for source in sources
    ]
    patched = [[scores(net, masked, solver, patch) for patch in row] for row in patches]
    return Transplant(
        intact.logits.double().numpy(),
        net.run(masked, solver).logits.double().numpy(),
        np.stack([np.stack(row, axis=1) for row in patched]),
        fraction,
    )


def scores(net: Network, images: Tensor, solver: SolverSettings, patch: Patch) -> NDArray[np.float64]:
    """Give class scores under one intervention."""
    found: NDArray[np.float64] = net.run(images, solver, patches=[patch]).logits.double().numpy()
    return found
