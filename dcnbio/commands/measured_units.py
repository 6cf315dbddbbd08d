"""Measures the units of a network from end to end: records them stage by stage, and analyses what was recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from dcnbio.commands.intervention_option import frozen_by_natural_images
from dcnbio.commands.measured_growth import record_growth
from dcnbio.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from dcnbio.analysis.responses.measures import Recordings
    from dcnbio.model.network import Network
    from dcnbio.probe.responses.own_stimuli import OwnGratings
    from dcnbio.probe.responses.units import UnitSettings

__all__ = ["SIZES", "MeasurePlan", "measure_network", "plan_of", "record_growth", "record_network"]

HIGHEST = 0.96  # contrast of gratings; the rest lie octaves below


@dataclass(frozen=True)
class MeasurePlan:
    """How much is shown to each network.

    Attributes
    ----------
    orientations, frequencies, phases : int
        Of the full-field gratings, crossed.
    times : int
        Solver times that timing is read from.
    diameters : tuple of float
        Of each unit's own grating, in pixels.
    octaves : int
        Contrasts, from 0.96 downwards by factors of 2.
    noise : int
        Images of white noise; 0 for no noise correlation.
    field_images : int
        Noise images over which gradients are averaged; 0 for no fields.
    reference : int
        Natural images whose statistics are used where the norms are frozen; 0 for no frozen statistics.
    blocks : tuple of int
    """

    orientations: int = 12
    frequencies: int = 9
    phases: int = 6
    times: int = 21
    diameters: tuple[float, ...] = (1.5, 3.0, 5.0, 8.0, 12.0, 17.0, 23.0, 30.0)
    octaves: int = 6
    noise: int = 250
    field_images: int = 1
    reference: int = 20
    blocks: tuple[int, ...] = field(default=(1,))


SIZES = {
    "quick": MeasurePlan(8, 8, 4, 11, (2.0, 4.0, 8.0, 16.0, 30.0), 5, 0, 1, 0),
    "default": MeasurePlan(),
    "full": MeasurePlan(12, 12, 8, noise=2000, field_images=4, reference=100, blocks=(1, 2, 3)),
}


def measure_network(
    net: Network,
    size: str | MeasurePlan = "default",
    *,
    seed: int = 0,
    name: str = "",
    trained: bool | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Measure one unit per channel of a network: tuning, size, contrast, timing and receptive field.

    Parameters
    ----------
    net : Network
    size : str or MeasurePlan
        "quick" (seconds), "default" (a minute or two) or "full" (all blocks, the better part of an hour).
    seed : int
        Of the noise.
    name : str
        Of the network, for the result.
    trained : bool, optional
        Whether it is; if left out, it is unless it was made by `build`.
    progress : bool
        Whether bars are shown on stderr.

    Returns
    -------
    xarray.Dataset
        See `dcnbio.analysis.responses.measures.measure_units`.

    Raises
    ------
    InputError
        If there is no such size or block.
    """
    from dcnbio.analysis.responses.measures import measure_units
    from dcnbio.model.weights import weights_id

    plan = plan_of(size)
    recordings = record_network(net, plan, seed=seed, progress=progress)
    known = net.source.get("built") is None if trained is None else trained
    about = {
        "network": name or str(net.source.get("file") or net.source.get("built") or net.spec.row),
        "row": net.spec.row,
        "weights": weights_id(net.state_dict()),
        "trained": int(known),
        "settings": {**asdict(plan), "seed": seed, "highest_contrast": HIGHEST},
    }
    return measure_units(recordings, about)


def plan_of(size: str | MeasurePlan) -> MeasurePlan:
    """Look a size up."""
    if isinstance(size, MeasurePlan):
        return size
    if size not in SIZES:
        raise InputError(f"size is {size!r}; sizes are {', '.join(SIZES)}.")
    return SIZES[size]


def record_network(net: Network, plan: MeasurePlan, *, seed: int = 0, progress: bool = False) -> Recordings:
    """Record all that `measure_units` takes.

    Later stages show each unit what it preferred in the first, where its field was found.
    """
    import numpy as np

    from dcnbio.analysis.responses.measures import Recordings
    from dcnbio.probe.responses.units import UnitSettings

    for block in plan.blocks:
        net.block(block)  # for its refusal, before anything is run
    rng = np.random.default_rng(seed)
    settings = UnitSettings(blocks=plan.blocks, times=plan.times)

    def bar(text: str) -> UnitSettings:
        return replace(settings, progress=text if progress else "")

    found = Recordings(record_gratings(net, plan, bar("gratings")), record_uniform(net, settings))
    found = replace(found, **record_receptive_fields(net, plan, rng, bar("noise")))
    own = own_gratings(found)
    found = replace(found, **record_preferred(net, own, plan, bar("size and contrast")))
    if plan.reference:
        frozen = frozen_by_natural_images(net, plan.reference)
        with_statistics = record_preferred(frozen, own, plan, bar("the same, statistics frozen"), low=False)
        found = replace(found, **{f"{key}_frozen": value for key, value in with_statistics.items()})
    return found


def record_gratings(net: Network, plan: MeasurePlan, settings: UnitSettings) -> xr.Dataset:
    """Record responses to full-field gratings of all orientations, frequencies and phases."""
    import numpy as np

    from dcnbio.images import Grating, battery
    from dcnbio.images.frequencies import LOWEST_FREQUENCY, NYQUIST
    from dcnbio.probe.responses.units import record_units

    crossed = {
        "orientation": np.arange(plan.orientations) * 180 / plan.orientations,
        "spatial_frequency": np.geomspace(LOWEST_FREQUENCY, NYQUIST, plan.frequencies),
        "phase": np.arange(plan.phases) * 360 / plan.phases,
    }
    shown = battery(Grating(contrast=HIGHEST), crossed)
    recorded = record_units(net, shown["image"].values, replace(settings, times=5))
    named = recorded.assign_coords({key: ("stimulus", shown[key].values, shown[key].attrs) for key in crossed})
    unstacked: xr.Dataset = named.set_index(stimulus=list(crossed)).unstack("stimulus")
    return unstacked.transpose(*crossed, "time", "unit", missing_dims="ignore")


def record_uniform(net: Network, settings: UnitSettings) -> xr.Dataset:
    """Record responses to steps of luminance over the whole image."""
    import numpy as np

    from dcnbio.probe.responses.units import record_units

    levels = settings.luminance * (1 + np.array([-HIGHEST, HIGHEST], dtype=np.float32))
    images = np.broadcast_to(levels[:, None, None, None], (2, 3, 32, 32)).astype(np.float32)
    return record_units(net, images, replace(settings, times=2))


def record_receptive_fields(
    net: Network, plan: MeasurePlan, rng: np.random.Generator, settings: UnitSettings
) -> dict[str, xr.Dataset]:
    """Record fields by gradient, and by noise where that is wanted."""
    import xarray as xr

    from dcnbio.images import white_noise
    from dcnbio.probe.responses.fields import FieldSettings, record_fields
    from dcnbio.probe.responses.noise import record_noise_fields

    found: dict[str, xr.Dataset] = {}
    if plan.field_images:
        images = white_noise(plan.field_images, rng)
        bar = "gradients" if settings.progress else ""
        every = [record_fields(net, images, FieldSettings(block, progress=bar)) for block in plan.blocks]
        found["fields"] = xr.concat(every, "unit") if len(every) > 1 else every[0]
    if plan.noise:
        found["noise"] = record_noise_fields(net, rng, plan.noise, settings=replace(settings, times=2))
    return found


def own_gratings(found: Recordings) -> OwnGratings:
    """Give each unit its best grating, where its field was measured, or else where its layers look."""
    import numpy as np

    from dcnbio.analysis.responses.field_measures import field_measures
    from dcnbio.analysis.responses.tuning_measures import tuning_measures
    from dcnbio.probe.responses.own_stimuli import OwnGratings

    columns = tuning_measures(found.gratings)
    places = [found.gratings[name].values for name in ("pixel_y", "pixel_x")]
    if found.fields is not None:
        fields = field_measures(found.fields, shape=False)
        measured = [fields[name] for name in ("field_centre_y", "field_centre_x")]
        good = np.isfinite(measured[0]) & ~fields["censored_field_sigma_gradient"]
        places = [np.where(good, there, place) for there, place in zip(measured, places, strict=True)]
    # the best that was shown: between the gratings shown, phase and response are not known
    wanted = ("best_orientation", "best_spatial_frequency", "best_phase")
    return OwnGratings(*(columns[name] for name in wanted), *places)


def record_preferred(
    net: Network, own: OwnGratings, plan: MeasurePlan, settings: UnitSettings, *, low: bool = True
) -> dict[str, xr.Dataset]:
    """Record every unit at its own grating: by diameter at one or two contrasts, and by contrast over the image."""
    import math

    from dcnbio.probe.responses.own_stimuli import record_own

    contrasts = [HIGHEST * 2.0**-k for k in reversed(range(plan.octaves))]
    shown = [HIGHEST / 4, HIGHEST] if low else [HIGHEST]
    size = record_own(net, own, {"contrast": shown, "diameter": plan.diameters}, settings)
    whole = record_own(net, own, {"contrast": contrasts, "diameter": [math.inf]}, settings)
    return {"size": size, "contrast": whole.isel(diameter=0, drop=True)}
