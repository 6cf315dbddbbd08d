"""How well the response to the blank is known, which every response is measured against."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.network import Network
from dcnbio.probe.responses.blank_solve import BLANK, SHARPER
from dcnbio.probe.responses.units import Recorder, UnitSettings

__all__ = ["blank_error"]


@torch.no_grad()
def blank_error(net: Network, settings: UnitSettings | None = None) -> NDArray[np.float64]:
    """Give by how much z(T) of the blank changes when it is solved three to ten times as exactly as it is recorded.

    Parameters
    ----------
    net : Network
    settings : UnitSettings, optional

    Returns
    -------
    array [unit]
        Of each channel of the blocks recorded; 0 where these are no ODE blocks, or where the network's own solver or
        vector field is used.

    Notes
    -----
    It is about 1e-7 where the norms have offsets, as after training, and under 0.001 in a network without, which starts
    where dh/dt is 0: see `solve_blank`. Where it is large, the level above which units respond is not known. It
    misleads as the error of a response to contrast, which has none of this.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(2,), norm_groups=2, integration_time=0.1)
    >>> blank_error(net).shape
    (2,)
    """
    settings = settings or UnitSettings()
    recorder = Recorder.of(net, settings)
    blank = torch.full((1, 3, 32, 32), settings.luminance)
    found = [recorder.of_blanks(settings, tolerance).signals(blank)[0][0, -1] for tolerance in (BLANK, SHARPER)]
    return np.asarray(np.abs(found[0] - found[1]))
