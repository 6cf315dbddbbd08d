"""Records units' responses to plaids and to gratings with surrounds, and the same with the norms' statistics held."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor
from tqdm.std import tqdm

from dcnbio.errors import InputError
from dcnbio.images import CentreSurround, Plaid, render
from dcnbio.model.interventions import lend_norms
from dcnbio.model.network import Network
from dcnbio.probe.responses.exactness import tightened
from dcnbio.probe.responses.own_stimuli import OwnGratings
from dcnbio.probe.responses.unit_labels import unit_coordinates
from dcnbio.probe.responses.unit_position import unit_position
from dcnbio.probe.responses.units import Recorder, UnitSettings

__all__ = ["CONDITIONS", "InteractionStimuli", "record_interactions"]

# what is shown; the first of each row lends its statistics to the row
CONDITIONS = {"grating": ("grating", "plaid"), "centre": ("centre", "iso_surround", "cross_surround")}


@dataclass(frozen=True)
class InteractionStimuli:
    """What is put onto, or around, each unit's own grating.

    Attributes
    ----------
    centre_diameter : array [unit]
        Of the grating that is surrounded, in pixels.
    contrast : float
        Of test and mask, centre and surround alike; at most 0.5, since test and mask add.
    phases : int
        Of the mask, and of a surround across, equally spaced from 0: an even number, so that what a filter makes of
        the mask alone cancels in the mean.

    Raises
    ------
    InputError
        If contrast or phases are not allowed.

    Examples
    --------
    >>> own = OwnGratings(*(np.array([value]) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))
    >>> plaids = InteractionStimuli(np.array([8.0])).images(own, 0, "plaid")
    >>> plaids.shape, [round(float(plaids.min()), 2), round(float(plaids.max()), 2)]
    ((2, 3, 32, 32), [0.09, 0.91])
    """

    centre_diameter: NDArray[np.float64]
    contrast: float = 0.48
    phases: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.contrast <= 0.5:
            raise InputError(f"contrast is {self.contrast}; test and mask add, so give more than 0 and at most 0.5.")
        if self.phases < 2 or self.phases % 2:
            raise InputError(f"phases is {self.phases}; give an even number from 2, whose opposites cancel.")

    def images(self, own: OwnGratings, row: int, condition: str) -> NDArray[np.float32]:
        """Draw one condition of one unit, at every phase of the mask where it has one."""
        whole = own.grating(row, self.contrast, math.inf)
        test = (whole.orientation, whole.spatial_frequency, whole.phase, self.contrast)
        across = [
            (whole.orientation + 90, whole.spatial_frequency, 360 * i / self.phases, self.contrast)
            for i in range(self.phases)
        ]
        place = {"centre_y": float(own.centre_y[row]), "centre_x": float(own.centre_x[row])}
        size = float(self.centre_diameter[row])
        drawn = {
            "grating": lambda: [render(whole)],
            "plaid": lambda: [render(Plaid(*test, *mask, **place)) for mask in across],
            "centre": lambda: [render(own.grating(row, self.contrast, size))],
            "iso_surround": lambda: [render(whole)],
            "cross_surround": lambda: [render(CentreSurround(*test, *ring, diameter=size, **place)) for ring in across],
        }
        return np.stack(drawn[condition]())


def record_interactions(
    net: Network, own: OwnGratings, stimuli: InteractionStimuli, settings: UnitSettings
) -> xr.Dataset:
    """Record units' responses to their own grating with a mask across it, and with surrounds of two orientations.

    Group norm divides by the standard deviation of the whole map, which any mask and any surround raises: that much
    suppression is built in. With the norms' statistics held at those that the grating alone has at the same time, it is
    gone, and what is left is of the filters and their nonlinearity.

    Parameters
    ----------
    net : Network
    own : OwnGratings
        Of units of the blocks recorded.
    stimuli : InteractionStimuli
    settings : UnitSettings

    Returns
    -------
    xarray.Dataset
        ``z`` and ``z_held`` (condition, unit) at T, the latter with the statistics of "grating" (for "plaid") or
        "centre" (for "iso_surround", "cross_surround") held, means over the mask's phases; ``z_blank`` (unit), of the
        network itself; ``h_change``, ``h_change_held`` and ``h_change_blank`` likewise; coordinates as from
        `record_units`, and ``centre_diameter`` (unit).

    Raises
    ------
    InputError
        If a diameter is missing.
    SolverError
        If a block could not be solved.

    Notes
    -----
    "iso_surround" is the grating over the whole image, which "centre" continues into without an edge. It misleads for
    units with fields at the border, and where the surround's edge itself drives the unit: the held values show that.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(2,), norm_groups=2, integration_time=0.1)
    >>> own = OwnGratings(*(np.full(2, value) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))
    >>> found = record_interactions(net, own, InteractionStimuli(np.full(2, 6.0)), UnitSettings())
    >>> dict(found["z_held"].sizes)
    {'condition': 5, 'unit': 2}
    """
    diameters = np.asarray(stimuli.centre_diameter, dtype=np.float64)
    if diameters.shape != own.orientation.shape or not (np.isfinite(diameters) & (diameters > 0)).all():
        raise InputError(
            f"centre_diameter is {diameters.tolist()} for {len(own.orientation)} gratings; give each a positive one."
        )
    whose = own.units(net, settings.blocks)
    total = sum(len(rows) for rows, _ in whose.values())
    parts = []
    with tqdm(total=total, desc=settings.progress, unit=" units", disable=not settings.progress) as bar:
        for block, (rows, channels) in whose.items():
            one = replace(settings, blocks=(block,), times=2)
            part = block_interactions(BlockOf(net, own, stimuli, one), rows, channels, bar)
            parts.append(part.assign_coords(centre_diameter=("unit", diameters[rows], DIAMETER)))
    return xr.concat(parts, "unit") if len(parts) > 1 else parts[0]


DIAMETER = {"long_name": "diameter of the surrounded grating", "units": "pixels"}


@dataclass(frozen=True)
class BlockOf:
    """One block of a network with what its units are shown."""

    net: Network
    own: OwnGratings
    stimuli: InteractionStimuli
    settings: UnitSettings

    @property
    def block(self) -> int:
        """Number from 1."""
        return self.settings.blocks[0]

    def tensor(self, images: NDArray[np.float32]) -> Tensor:
        """Give images in the network's precision."""
        return torch.from_numpy(images).to(next(self.net.readout.parameters()))

    def drawn(self, rows: list[int], condition: str) -> list[Tensor]:
        """Draw a condition of several units: one batch, (unit, 3, y, x), for each phase of the mask."""
        every = np.stack([self.stimuli.images(self.own, row, condition) for row in rows], 1)
        return [self.tensor(images) for images in every]


@torch.no_grad()
def block_interactions(subject: BlockOf, rows: list[int], channels: list[int], bar: tqdm[None]) -> xr.Dataset:
    """Record the units of one block, some at a time."""
    net, settings = subject.net, subject.settings
    place = unit_position(net, subject.block)
    free = Recorder.of(net, settings)
    blank = free.of_blanks(settings).signals(torch.full((1, 3, 32, 32), settings.luminance))
    found: dict[str, list[NDArray[np.float64]]] = {}
    for start in range(0, len(rows), settings.batch_size):
        some, mine = rows[start : start + settings.batch_size], channels[start : start + settings.batch_size]
        for name, signals in interactions_of(subject, some, mine, free):
            found.setdefault(name, []).append(signals)
        bar.update(len(some))
    names = [name for row in CONDITIONS.values() for name in row]
    coordinates = {
        key: (dim, values[channels], about) for key, (dim, values, about) in unit_coordinates(net, [place]).items()
    }
    data = xr.Dataset(coords={"condition": names, **coordinates})
    for i, (signal, words) in enumerate((("z", "z of the unit at T"), ("h_change", "h(T) - h(0) of the unit"))):
        for suffix, held in (("", ""), ("_held", ", norm statistics held at those of the grating alone")):
            values = np.stack([np.concatenate([part[i] for part in found[f"{name}{suffix}"]]) for name in names])
            data[f"{signal}{suffix}"] = (("condition", "unit"), values, {"long_name": words + held, "units": "1"})
        about = {"long_name": f"{words}, blank", "units": "1"}
        data[f"{signal}_blank"] = ("unit", blank[i][0, -1, channels], about)
    return data


def interactions_of(
    subject: BlockOf, rows: list[int], channels: list[int], free: Recorder
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Give z and h(T) - h(0), (2, unit), of every condition, as it is and with statistics held."""
    each = np.arange(len(rows))
    for conditions in CONDITIONS.values():
        drawn = [(condition, images) for condition in conditions for images in subject.drawn(rows, condition)]
        # the first part is the grating alone; statistics belong to a place in the batch, so steps are shared
        lent = lend_norms(subject.net, len(drawn))
        solver = tightened(subject.net.solver, subject.settings.tolerance)
        held = Recorder(lent, free.places, 2, replace(solver, stepping="shared"))
        signals = np.stack(held.signals(torch.cat([images for _, images in drawn]))[:2])
        parts = signals.reshape(2, len(drawn), len(rows), *signals.shape[2:])[:, :, each, -1, channels]
        for condition in conditions:
            mine = [i for i, (name, _) in enumerate(drawn) if name == condition]
            alone = [np.stack(free.signals(drawn[i][1])[:2])[:, each, -1, channels] for i in mine]
            yield condition, np.mean(alone, axis=0)
            yield f"{condition}_held", parts[:, mine].mean(1)
