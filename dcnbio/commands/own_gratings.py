"""Shows every unit of a network the grating that it prefers: by size and contrast, masked, and surrounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcnbio.commands.measure_plan import HIGHEST, MeasurePlan

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from dcnbio.analysis.responses.measures import Recordings
    from dcnbio.model.network import Network
    from dcnbio.probe.responses.own_stimuli import OwnGratings
    from dcnbio.probe.responses.units import UnitSettings

__all__ = ["eps_shares", "own_gratings", "record_masked", "record_preferred"]


def own_gratings(found: Recordings, signal: str = "z") -> OwnGratings:
    """Give each unit its best grating, where its field was measured, or else where its layers look."""
    import numpy as np

    from dcnbio.analysis.responses.field_measures import field_measures
    from dcnbio.analysis.responses.tuning_measures import tuning_measures
    from dcnbio.probe.responses.own_stimuli import OwnGratings

    columns = tuning_measures(found.gratings, signal)
    places = [found.gratings[name].values for name in ("pixel_y", "pixel_x")]
    if found.fields is not None:
        fields = field_measures(found.fields, shape=False)
        measured = [fields[name] for name in ("field_centre_y", "field_centre_x")]
        good = np.isfinite(measured[0]) & ~fields["censored_field_sigma_moments"]
        places = [np.where(good, there, place) for there, place in zip(measured, places, strict=True)]
    # the best that was shown: between the gratings shown, phase and response are not known
    wanted = ("best_orientation", "best_spatial_frequency", "best_phase")
    whose = (found.gratings[name].values for name in ("block", "channel"))
    return OwnGratings(*(columns[name] for name in wanted), *places, *whose)


def eps_shares(net: Network, own: OwnGratings, plan: MeasurePlan) -> dict[str, np.ndarray]:
    """Give the share of eps in the first norm's variance where it is largest: faint gratings, and small ones."""
    import math

    import numpy as np

    from dcnbio.images import render
    from dcnbio.probe.responses.eps_share import eps_share

    worst = {
        "eps_share_low_contrast": (plan.shown_contrasts[0], math.inf),
        "eps_share_small_grating": (HIGHEST / 4, min(plan.diameters)),
    }
    units = range(len(own.orientation))
    return {
        name: eps_share(net, np.stack([render(own.grating(unit, *shown)) for unit in units]))
        for name, shown in worst.items()
    }


def record_preferred(net: Network, own: OwnGratings, plan: MeasurePlan, settings: UnitSettings) -> dict[str, Any]:
    """Record every unit at its own grating: by diameter at two contrasts, and by contrast over the image."""
    import math

    from dcnbio.probe.responses.own_stimuli import record_own

    contrasts = list(plan.shown_contrasts)
    shown = {"contrast": [HIGHEST / 4, HIGHEST], "diameter": plan.diameters}
    size = record_own(net, own, shown, settings)
    whole = record_own(net, own, {"contrast": contrasts, "diameter": [math.inf]}, settings)
    return {"size": size, "contrast": whole.isel(diameter=0, drop=True)}


def record_masked(
    net: Network, known: tuple[OwnGratings, Recordings], plan: MeasurePlan, settings: UnitSettings
) -> xr.Dataset:
    """Record plaids and surrounds, the surrounded grating as large as each unit's summation field.

    A summation field under 3 or over 16 pixels, or one that is not known, is taken as the nearest of these, or as 8
    pixels: beyond 16, an image of 32 pixels has little room for a surround.
    """
    import numpy as np

    from dcnbio.analysis.responses.size_measures import size_measures
    from dcnbio.probe.responses.interactions import InteractionStimuli, record_interactions

    own, found = known
    summation = np.full(len(own.orientation), np.nan)
    if found.size is not None:
        summation = size_measures(found.size, plan.signal)["summation_diameter"]
    centre = np.clip(np.where(np.isfinite(summation), summation, 8.0), 3.0, 16.0)
    return record_interactions(net, own, InteractionStimuli(centre, HIGHEST / 2, plan.mask_phases), settings)
