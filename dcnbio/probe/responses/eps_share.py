"""How much eps counts in the variance by which the first norm divides: where it does, no law of contrast holds."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dcnbio.model.device import double
from dcnbio.model.interventions.norm_statistics import group_moments
from dcnbio.model.network import Network

__all__ = ["eps_share"]

BATCH = 64


@torch.no_grad()
def eps_share(net: Network, images: NDArray[np.float32]) -> NDArray[np.float64]:
    """Give eps / (variance + eps) in the first norm of block 1 at t = 0, the median over the norm's groups.

    The contrast-time law, and a suppression that does not depend on contrast, hold where it is small: with variance s^2
    the norm gives h / sqrt(s^2 + eps), so that at a share of one half all of block 1 starts slower by sqrt 2.

    Parameters
    ----------
    net : Network
    images : array of float32 [n, 3, y, x]

    Returns
    -------
    array [n]
        NaN where block 1 has no group norm, for instance since its statistics are frozen.

    Notes
    -----
    It misleads as a statement on later times: h grows at a speed that the last norm fixes, and eps with it is
    forgotten, but not the time that was lost. Groups that differ from the median are as many above as below.

    Examples
    --------
    >>> from dcnbio.images import Grating, render
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4,), norm_groups=4)
    >>> shown = np.stack([render(Grating(contrast=contrast)) for contrast in (0.96, 0.00096)])
    >>> strong, faint = eps_share(net, shown)
    >>> bool(strong < 0.01 < faint)
    True
    """
    norm = next((one for one in net.blocks[0].modules() if isinstance(one, nn.GroupNorm)), None)
    if norm is None:
        return np.full(len(images), np.nan)
    weight = next(net.readout.parameters())
    found = []
    for start in range(0, len(images), BATCH):
        _, variance = group_moments(norm, net.stem(torch.from_numpy(images[start : start + BATCH]).to(weight)))
        share = norm.eps / (double(variance) + norm.eps)
        found.append(np.median(share.flatten(1).cpu().numpy(), axis=1))
    return np.concatenate(found)
