"""Turns passes into labelled arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.contrast.condition import Condition
from dcnbio.probe.contrast.deviation import logit_deviation, map_deviation
from dcnbio.probe.contrast.passes import Pass, run_condition
from dcnbio.probe.contrast.settings import ContrastSettings

__all__ = ["ABOUT", "Experiment", "arranged"]

ABOUT = {
    "answer": ("class with the largest logit, -1 where a block was not solved", "1"),
    "logit_deviation": ("|logits - those at contrast 1| over the spread of those", "1"),
    "map_deviation": ("root mean square difference from contrast 1 of block 1's group-normalised last map", "1"),
    "nfe": ("function evaluations", "1"),
}


@dataclass(eq=False)
class Experiment:
    """A network, some images that are held in memory together, and what it makes of them at contrast 1.

    Attributes
    ----------
    net : Network
    images : Tensor, shape (n, 3, y, x)
    settings : ContrastSettings
    tick : callable
        Called with the number of images after each pass.
    """

    net: Network
    images: Tensor
    settings: ContrastSettings
    tick: Callable[[int], None] = lambda n: None

    @property
    def solver(self) -> SolverSettings:
        """Every image at its own steps."""
        return SolverSettings(rtol=self.settings.rtol, atol=self.settings.atol, stepping="per-image")

    def run(
        self, condition: Condition, solver: SolverSettings | None = None, later: SolverSettings | None = None
    ) -> Pass:
        """Pass the images; blocks after the first may have a solver of their own."""
        found = run_condition(self.net, self.images, condition, solver or self.solver, later)
        self.tick(len(self.images))
        return found

    @functools.cached_property
    def reference(self) -> Pass:
        """The images at contrast 1."""
        return self.run(Condition())

    def measures(self, found: Pass) -> dict[str, NDArray[Any]]:
        """Compare a pass with contrast 1."""
        reference = self.reference
        groups = self.net.spec.groups(self.net.spec.widths[0])
        answer = torch.where(found.solved, found.logits.argmax(1), -1)
        return {
            "answer": answer.numpy().astype(np.int16),
            "logit_deviation": logit_deviation(found.logits, reference.logits).numpy(),
            "map_deviation": map_deviation(found.first, reference.first, groups).numpy(),
            "nfe": found.nfe.numpy(),
        }


def arranged(
    cells: Sequence[dict[str, NDArray[Any]]], dims: Sequence[str], coords: dict[str, Any], blocks: int
) -> xr.Dataset:
    """Arrange the measures of cells, in the order of `dims`, in one Dataset."""
    shape = [len(coords[dim]) for dim in dims]
    found = xr.Dataset(coords={**coords, "block": np.arange(1, blocks + 1)})
    for name in cells[0]:
        values = np.stack([cell[name] for cell in cells])
        extra = ("stimulus", "block") if name == "nfe" else ("stimulus",)
        long_name, units = ABOUT[name]
        about = {"long_name": long_name, "units": units}
        found[name] = ((*dims, *extra), values.reshape(*shape, *values.shape[1:]), about)
    return found
