"""How each image of a batch fared, block by block: images that are no numbers are left out before the solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network, Run
from dcnbio.model.ode_block import TimesRequest
from dcnbio.model.patch import Patch
from dcnbio.model.status import Status, explain
from dcnbio.probe.precision import held_still
from dcnbio.probe.settings import ProbeSettings

__all__ = ["NOT_FINITE", "Outcome", "finite_images", "outcomes", "run_finite"]

NOT_FINITE = "non-finite values"


@dataclass(frozen=True, eq=False)
class Outcome:
    """How the images of a batch fared in one block.

    Attributes
    ----------
    status : int64 array [image]
        Values of `Status`.
    reasons : list of str [image]
        Why a status is not OK; empty where it is.
    """

    status: NDArray[np.int64]
    reasons: list[str]


def finite_images(images: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Say which images (n, channel, y, x) hold numbers alone.

    Examples
    --------
    >>> finite_images(np.array([0.5, np.nan]).reshape(2, 1, 1, 1)).tolist()
    [True, False]
    """
    found: NDArray[np.bool_] = np.isfinite(images).all(axis=(1, 2, 3))
    return found


def run_finite(
    net: Network,
    images: NDArray[np.float32],
    settings: ProbeSettings,
    times: dict[int, TimesRequest] | None = None,
    patches: Sequence[Patch] = (),
) -> Run | None:
    """Run those images that are finite; None if there are none. Patches are those of these images.

    With shared steps one image that is no number would otherwise end the solve of all.
    """
    chosen = images[finite_images(images)]
    if not len(chosen):
        return None
    tensor = torch.from_numpy(np.ascontiguousarray(chosen)).to(device=settings.device, dtype=settings.torch_dtype)
    with held_still(net):
        return net.run(tensor, settings.solver, 2 if times is None else times, patches)


def outcomes(run: Run | None, taken: NDArray[np.bool_], problems: Sequence[str], blocks: int) -> list[Outcome]:
    """Give the outcome of every image of a batch in every block.

    Parameters
    ----------
    run : Run or None
        Of the images that were taken.
    taken : bool array [image]
        From `finite_images`.
    problems : sequence of str [image]
        What is known to be wrong with an image that was not taken.
    blocks : int
        Blocks of the network.

    Returns
    -------
    list of Outcome
        One per block. An image that ended early in a block has no input in those after it.
    """
    found: list[Outcome] = []
    for block in range(1, blocks + 1):
        status = np.full(len(taken), int(Status.BAD_INPUT), dtype=np.int64)
        reasons = [f"image left out: {problem or NOT_FINITE}" for problem in problems]
        if run is not None:
            work = run.blocks[block - 1].work
            ends = zip(np.flatnonzero(taken), work.status.tolist(), work.reached.tolist(), strict=True)
            for image, own, reached in ends:
                before = found[-1].reasons[image] if found else ""
                status[image] = Status.BAD_INPUT if before else own
                reasons[image] = before or ("" if own == Status.OK else explain(own, f"block{block}", reached))
        found.append(Outcome(status, reasons))
    return found
