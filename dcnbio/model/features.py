"""A block's hidden state as a function of images, for tools that want a module with gradients."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.apart import one_by_one
from dcnbio.model.given_network import check_network
from dcnbio.model.network import Network
from dcnbio.model.uncompiled import uncompiled
from dcnbio.model.unsolved import refuse_unsolved

__all__ = ["Features", "features"]


class Features(nn.Module):
    """Images (n, 3, 32, 32) in [0, 1] to the hidden state h(t) of one block, shape (n, c, y, x).

    Parameters
    ----------
    net : Network
    block : int
        1, 2, ...
    t : float or None
        Solver time from 0 to the block's T; None: T.
    per_image : bool
        Each image with its own steps, so that h(t) does not depend on its batch mates.

    Raises
    ------
    InputError
        If there is no such block, `t` lies outside 0 to T, or the block is a residual one and `t` neither of its ends;
        on a call, if these are no images for the network.
    SolverError
        On a call, if a block could not be solved.

    Examples
    --------
    >>> import torch
    >>> from dcnbio.model.network import build
    >>> field = Features(build("dcn-ode", widths=(8, 16), norm_groups=4), block=1, t=0.5)
    >>> tuple(field(torch.rand(2, 3, 32, 32)).shape)
    (2, 8, 30, 30)
    """

    def __init__(self, net: Network, block: int, t: float | None = None, *, per_image: bool = True) -> None:
        super().__init__()
        check_network(net)
        end = net.block(block).integration_time
        self.t = end if t is None else float(t)
        if not 0 <= self.t <= end:
            raise InputError(f"t is {t}; block {block} runs from 0 to {end:g}.")
        if net.spec.depth == "residual" and self.t not in (0.0, end):
            raise InputError(f"t is {t}; a residual block has an input (t = 0) and an output (t = {end:g}) alone.")
        self.net, self.block, self.per_image = net, block, per_image

    @uncompiled
    def forward(self, images: Tensor) -> Tensor:
        """Give h(t)."""
        net = self.net
        images = net.checked(images)
        stepping = "per-image" if self.per_image else "shared"
        solver = replace(net.solver, stepping=stepping)
        h = one_by_one(net.stem, images, self.per_image)
        for number in range(1, self.block + 1):
            wanted = [self.t] if number == self.block and net.spec.depth == "ode" else 2
            solution = net.block(number).run(h, solver, wanted)
            refuse_unsolved(solution, f"block {number}", images)
            if number == self.block:
                first = self.t == 0 or net.spec.depth == "ode"
                return solution.path[:, 0] if first else solution.final
            h = one_by_one(net.transitions[number - 1], solution.final, self.per_image)
        return h

    def extra_repr(self) -> str:
        """Name block and time."""
        return f"block={self.block}, t={self.t:g}"


def features(net: Network, block: int, t: float | None = None, *, per_image: bool = True) -> Features:
    """Give the module that maps images to h(t) of a block, with gradients to the images and the weights.

    So that tools for metamers, attribution and similarity analysis can be put on a network: they expect a module.

    Parameters
    ----------
    net : Network
    block : int
        1, 2, ...
    t : float, optional
        Solver time from 0 to the block's T; T by default.
    per_image : bool
        Each image with its own steps (the default), or one step for the batch as in a plain call.

    Returns
    -------
    Features

    Examples
    --------
    >>> import torch
    >>> from dcnbio.model.network import build
    >>> field = features(build("dcn-ode", widths=(8, 16), norm_groups=4), block=1, t=0.5)
    >>> images = torch.rand(2, 3, 32, 32, requires_grad=True)
    >>> field(images).square().sum().backward()
    >>> tuple(images.grad.shape)
    (2, 3, 32, 32)
    """
    return Features(net, block, t, per_image=per_image)
