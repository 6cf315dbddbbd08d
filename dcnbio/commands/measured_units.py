"""Measures the units of a network from end to end: records them stage by stage, and analyses what was recorded."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from dcnbio.commands.intervention_option import frozen_by_natural_images
from dcnbio.commands.measure_plan import HIGHEST, SIZES, MeasurePlan, plan_of
from dcnbio.commands.own_gratings import eps_shares, own_gratings, record_masked, record_preferred

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from dcnbio.analysis.responses.measures import Recordings
    from dcnbio.model.network import Network
    from dcnbio.probe.responses.units import UnitSettings

__all__ = ["SIZES", "MeasurePlan", "measure_network", "plan_of", "record_network"]


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
        "quick" (seconds), "small" (a minute: a dozen units of a block), "default" (minutes) or "full" (all
        blocks, an hour or two).
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
    plan = plan_of(size)
    recordings = record_network(net, plan, seed=seed, progress=progress)
    return measures_of(net, recordings, plan, seed=seed, name=name, trained=trained)


def measures_of(
    net: Network,
    recordings: Recordings,
    plan: MeasurePlan,
    *,
    seed: int = 0,
    name: str = "",
    trained: bool | None = None,
) -> xr.Dataset:
    """Measure recorded units; the options are those of `measure_network`."""
    from dcnbio.analysis.responses.measures import measure_units
    from dcnbio.model.weights import weights_id

    known = net.source.get("built") is None if trained is None else trained
    about = {
        "network": name or str(net.source.get("file") or net.source.get("built") or net.spec.row),
        "row": net.spec.row,
        "weights": weights_id(net.state_dict()),
        "trained": int(known),
        "settings": {
            **asdict(plan),
            "seed": seed,
            "highest_contrast": HIGHEST,
            "lowest_contrast": plan.shown_contrasts[0],
        },
    }
    return measure_units(recordings, about, plan.signal)


def record_network(net: Network, plan: MeasurePlan, *, seed: int = 0, progress: bool = False) -> Recordings:
    """Record all that `measure_units` takes.

    Later stages show each unit what it preferred in the first, where its field was found.
    """
    import numpy as np

    from dcnbio.analysis.responses.measures import Recordings
    from dcnbio.probe.responses.blank_error import blank_error
    from dcnbio.probe.responses.units import UnitSettings

    for block in plan.blocks:
        net.block(block)  # for its refusal, before anything is run
    rng = np.random.default_rng(seed)
    settings = UnitSettings(blocks=plan.blocks, times=plan.times, tolerance=plan.tolerance)

    def bar(text: str) -> UnitSettings:
        return replace(settings, progress=text if progress else "")

    chosen = chosen_units(net, plan)
    gratings = record_gratings(net, plan, bar("gratings")).isel(unit=chosen)
    found = Recordings(gratings, record_uniform(net, settings).isel(unit=chosen))
    found = replace(found, **record_receptive_fields(net, plan, rng, bar("noise")))
    own = own_gratings(found, plan.signal)
    known = {"blank_error": blank_error(net, settings)[chosen]}
    found = replace(found, eps_share={**eps_shares(net, own, plan), **known})
    found = replace(found, **record_preferred(net, own, plan, bar("size and contrast")))
    if plan.mask_phases:
        found = replace(found, interactions=record_masked(net, (own, found), plan, bar("plaids and surrounds")))
    if plan.reference:
        frozen = frozen_by_natural_images(net, plan.reference)
        with_statistics = record_preferred(frozen, own, plan, bar("the same, statistics frozen"))
        found = replace(found, **{f"{key}_frozen": value for key, value in with_statistics.items()})
    return found


def chosen_units(net: Network, plan: MeasurePlan) -> np.ndarray:
    """Give the units that are measured, counted over all channels of the blocks recorded."""
    import numpy as np

    widths = [net.spec.widths[block - 1] for block in plan.blocks]
    starts = np.cumsum([0, *widths[:-1]])
    return np.concatenate([start + plan.channels(width) for start, width in zip(starts, widths, strict=True)])


def record_gratings(net: Network, plan: MeasurePlan, settings: UnitSettings) -> xr.Dataset:
    """Record responses to full-field gratings of all orientations, frequencies and phases."""
    import numpy as np

    from dcnbio.images import Grating, battery
    from dcnbio.probe.responses.unit_position import unit_position
    from dcnbio.probe.responses.units import record_units

    highest = tuple(unit_position(net, block).highest_frequency for block in plan.blocks)
    crossed = {
        "orientation": np.arange(plan.orientations) * 180 / plan.orientations,
        "spatial_frequency": plan.shown_frequencies(highest),
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
) -> dict[str, Any]:
    """Record fields by gradient, and by noise where that is wanted."""
    import xarray as xr

    from dcnbio.images import white_noise
    from dcnbio.probe.responses.fields import FieldSettings, record_fields
    from dcnbio.probe.responses.noise import record_noise_fields

    found: dict[str, Any] = {}
    if plan.field_images:
        images = white_noise(plan.field_images, rng)
        bar = "gradients" if settings.progress else ""
        every = [
            record_fields(net, images, FieldSettings(block, channels=channels_of(net, plan, block), progress=bar))
            for block in plan.blocks
        ]
        found["fields"] = xr.concat(every, "unit") if len(every) > 1 else every[0]
    if plan.noise:
        noise = record_noise_fields(net, rng, plan.noise, settings=replace(settings, times=2, tolerance=None))
        found["noise"] = noise.isel(unit=chosen_units(net, plan))
    return found


def channels_of(net: Network, plan: MeasurePlan, block: int) -> tuple[int, ...]:
    """Give the channels of a block that are measured."""
    return tuple(plan.channels(net.spec.widths[block - 1]).tolist())
