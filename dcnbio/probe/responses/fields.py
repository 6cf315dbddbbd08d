"""Effective receptive fields by gradient: a local part, with the norms' statistics held, and the norms' global part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor
from tqdm.std import tqdm

from dcnbio.errors import InputError, SolverError
from dcnbio.images.number_checks import count
from dcnbio.model.device import double
from dcnbio.model.interventions.norms import hold_norms
from dcnbio.model.network import Network
from dcnbio.probe.responses.unit_position import UnitPosition, unit_position

__all__ = ["FieldSettings", "record_fields"]


@dataclass(frozen=True)
class FieldSettings:
    """Which fields are recorded.

    Attributes
    ----------
    block : int
        From 1.
    times : tuple of float
        Solver times over the block's T, from 0 to 1.
    channels : tuple of int or None
        None: all.
    whole : bool
        Whether the field with the norms' part is recorded too, for the global share.
    progress : str
        Name of the progress bar; empty for none.

    Raises
    ------
    InputError
        If block or channels are no whole numbers.
    """

    block: int = 1
    times: tuple[float, ...] = (1.0,)
    channels: tuple[int, ...] | None = None
    whole: bool = True
    progress: str = ""

    def __post_init__(self) -> None:
        count("block", self.block, 1)
        for channel in self.channels or ():
            count("channel", channel, 0)


def unit_path(net: Network, image: Tensor, place: UnitPosition, times: list[float]) -> Tensor:
    """Give h of the unit of each channel at solver times, (t, c), of one image, with its graph."""
    solver = replace(net.solver, stepping="shared")
    h = net.stem(image)
    for number in range(1, place.block + 1):
        last = number == place.block
        wanted = [*times] if last and net.spec.depth == "ode" else 2
        solution = net.block(number).run(h, solver, wanted)
        if not solution.ok:
            raise SolverError(f"block {number} was not solved for a reference image; see dcnbio.probe for the reasons.")
        if last:
            return place.of(solution.path[0])
        h = net.transitions[number - 1](solution.final)
    raise InputError(f"block is {place.block}; give one of the network's.")


def gradients(
    net: Network, image: Tensor, place: UnitPosition, wanted: tuple[list[float], list[int]], bar: tqdm[None]
) -> NDArray[np.float64]:
    """Give dh/d(luminance) of every unit, (t, c, y, x), for one image (1, 3, y, x)."""
    times, channels = wanted
    image = image.detach().clone().requires_grad_()
    with torch.enable_grad():
        units = unit_path(net, image, place, times)
        rows = [0, -1] if net.spec.depth == "residual" else range(len(times))
        found = []
        for i in rows:
            for channel in channels:
                (slope,) = torch.autograd.grad(units[i, channel], image, retain_graph=True)
                found.append(double(slope[0].sum(0)).cpu().numpy())
                bar.update()
    return np.stack(found).reshape(len(rows), len(channels), *image.shape[-2:])


def record_fields(net: Network, images: NDArray[np.float32], settings: FieldSettings | None = None) -> xr.Dataset:
    """Record the effective receptive fields of one unit per channel: the gradient of h(t) to the image's luminance.

    Group norm makes every unit depend on the whole map. The local part is the gradient with the norms' statistics
    held at the image's own; what the whole gradient has beyond is the norms' global part.

    Parameters
    ----------
    net : Network
    images : array of float32 [n, 3, 32, 32]
        Reference images over which gradients are averaged, since the network is not linear.
    settings : FieldSettings, optional

    Returns
    -------
    xarray.Dataset
        ``local`` and, where wanted, ``whole`` (time, unit, y, x), of h over luminance; coordinates ``time`` (over T),
        ``block``, ``channel`` (unit).

    Raises
    ------
    InputError
        If a time or channel does not exist.

    Notes
    -----
    A blank has no contrast to be normalised, and its gradient is that of eps: take images with contrast. It misleads as
    the field of the response r, which is rectified and normalised once more, if the size alone is not asked for.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> noise = np.random.default_rng(0).random((1, 3, 32, 32), dtype=np.float32)
    >>> found = record_fields(build("dcn-ode", widths=(4,), norm_groups=4), noise, FieldSettings(times=(0.0, 1.0)))
    >>> dict(found.sizes)
    {'time': 2, 'unit': 4, 'y': 32, 'x': 32}
    """
    settings = settings or FieldSettings()
    place = unit_position(net, settings.block)
    channels = list(settings.channels if settings.channels is not None else range(net.spec.widths[settings.block - 1]))
    shares = sorted({0.0, 1.0} if net.spec.depth == "residual" else set(settings.times))
    if not shares or shares[0] < 0 or shares[-1] > 1 or not channels:
        raise InputError(f"times are {settings.times}, channels {settings.channels}; times lie in 0 to 1, over T.")
    times = [share * net.block(settings.block).integration_time for share in shares]
    held = hold_norms(net).requires_grad_(False)
    networks = {"local": held, "whole": net} if settings.whole else {"local": held}
    trained = [(p, p.requires_grad) for p in net.parameters()]
    net.requires_grad_(False)
    weight = next(net.readout.parameters())
    sums: dict[str, NDArray[np.float64]] = {}
    total = len(images) * len(networks) * len(shares) * len(channels)
    try:
        with tqdm(total=total, desc=settings.progress, unit=" fields", disable=not settings.progress) as bar:
            for name, one in networks.items():
                batch = torch.from_numpy(np.asarray(images)).to(weight)
                every = [gradients(one, batch[i : i + 1], place, (times, channels), bar) for i in range(len(batch))]
                sums[name] = np.mean(every, axis=0)
    finally:
        for parameter, wanted in trained:
            parameter.requires_grad_(wanted)
    about = {
        "local": "receptive field, norm statistics held",
        "whole": "receptive field with the norms' global part",
    }
    dims = ("time", "unit", "y", "x")
    return xr.Dataset(
        {name: (dims, field, {"long_name": about[name], "units": "h / luminance"}) for name, field in sums.items()},
        {
            "time": ("time", shares, {"long_name": "solver time over the block's T", "units": "1"}),
            "block": ("unit", [settings.block] * len(channels), {"long_name": "block", "units": "1"}),
            "channel": ("unit", channels, {"long_name": "channel", "units": "1"}),
        },
    )
