"""The refusal of a pass in which a block was not solved to its end."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.errors import SolverError
from dcnbio.model.solution import Solution
from dcnbio.model.status import Status, explain

__all__ = ["refuse_unsolved"]

NAMED = 5


def refuse_unsolved(solution: Solution, block: str, images: Tensor) -> None:
    """Raise where the solve of an image ended early; name the image, the block, the time and what is wrong.

    Parameters
    ----------
    solution : Solution
    block : str
        What the block is called.
    images : Tensor, shape (n, ...)
        What was given to the network: with shared steps, one image that holds a NaN stops all of them.

    Raises
    ------
    SolverError

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> images = torch.rand(1, 3, 32, 32)
    >>> refuse_unsolved(build("dcn-ode").run(images).blocks[0], "block 1", images)
    """
    if solution.ok:
        return
    first = int((solution.work.status != Status.OK).nonzero()[0, 0])
    reason = explain(int(solution.work.status[first]), block, float(solution.work.reached[first]))
    broken = (~torch.isfinite(images).flatten(1).all(1)).nonzero()[:, 0].tolist()
    if not broken:
        raise SolverError(f"image {first} of the batch was not solved: {reason}; check the images and weights.")
    named = ", ".join(map(str, broken[:NAMED])) + (" and more" if len(broken) > NAMED else "")
    raise SolverError(
        f"image {first} of the batch was not solved: {reason}; NaN or infinite values are in image {named}, and with "
        "shared steps they stop the whole batch, so leave such images out."
    )
