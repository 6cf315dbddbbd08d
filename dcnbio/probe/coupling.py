"""How much the images of a batch move each other when they share their steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import SolverError
from dcnbio.model.network import Network
from dcnbio.probe.precision import held_still, moved
from dcnbio.probe.settings import ProbeSettings
from dcnbio.probe.stimuli import Stimuli, as_stimuli, prepared_images

__all__ = ["Coupling", "batch_coupling"]


@dataclass(frozen=True)
class Coupling:
    """What sharing steps does to a few images.

    Attributes
    ----------
    n : int
        Images tried alone and together.
    logits : float
        Largest difference of a logit alone and together, as a fraction of the largest logit.
    nfe_together : tuple of int
        Function evaluations of each block, for the batch.
    nfe_alone : tuple of (int, int)
        Least and most of each block over the images alone.

    Examples
    --------
    >>> str(Coupling(2, 3e-4, (44,), ((38, 50),))).rpartition("; ")[2]
    'NFE per block 44 together, 38 to 50 alone'
    """

    n: int
    logits: float
    nfe_together: tuple[int, ...]
    nfe_alone: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        """Say it in one sentence."""
        together = ", ".join(map(str, self.nfe_together))
        alone = ", ".join(f"{least} to {most}" for least, most in self.nfe_alone)
        return (
            f"shared steps: {self.n} images alone and together differ by up to {self.logits:.1e} of the largest logit; "
            f"NFE per block {together} together, {alone} alone"
        )


def batch_coupling(
    net: Network,
    data: xr.Dataset | NDArray[np.floating[Any]] | torch.Tensor | Stimuli,
    settings: ProbeSettings | None = None,
    n: int = 16,
) -> Coupling:
    """Run a few images alone and together with shared steps, and compare.

    Parameters
    ----------
    net : Network
    data : xarray.Dataset, array or Tensor
        The first `n` images of it are used.
    settings : ProbeSettings, optional
        Solver, type and device.
    n : int
        How many images.

    Returns
    -------
    Coupling

    Raises
    ------
    SolverError
        If one of the images is not solved, alone or together.

    Examples
    --------
    >>> import dcnbio
    >>> coupling = batch_coupling(dcnbio.load(), dcnbio.load_images(limit=10), n=2)
    >>> coupling.n, coupling.logits < 0.1
    (2, True)
    """
    settings = replace(settings or ProbeSettings(), stepping="shared")
    stimuli = as_stimuli(data).usable(n)
    if not len(stimuli):
        raise SolverError("shared steps: how images move each other is not known, since none of them can be used.")
    ready = moved(net, settings.torch_dtype, settings.device)
    images = torch.from_numpy(prepared_images(stimuli, settings)).to(settings.device, settings.torch_dtype)
    with held_still(ready):
        together = ready.run(images, settings.solver)
        alone = [ready.run(images[i : i + 1], settings.solver) for i in range(len(images))]
    if not all(block.ok for run in (together, *alone) for block in run.blocks):
        raise SolverError("shared steps: how images move each other is not known, since some of them were not solved.")
    apart = (together.logits - torch.cat([run.logits for run in alone])).abs().max() / together.logits.abs().max()
    counts = [[int(run.blocks[b].work.nfe[0]) for run in alone] for b in range(len(together.blocks))]
    return Coupling(
        n=len(images),
        logits=float(apart),
        nfe_together=tuple(int(block.work.nfe[0]) for block in together.blocks),
        nfe_alone=tuple((min(c), max(c)) for c in counts),
    )
