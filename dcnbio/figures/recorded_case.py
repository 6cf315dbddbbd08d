"""Words for a caption on what a recording has that a plain one has not: mask, contrast, T, a changed network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from dcnbio.figures.names import listed
from dcnbio.model.rows import ROWS, row_spec

__all__ = ["recorded_case"]


def recorded_case(recording: xr.DataTree) -> str:
    """Say how a recording differs from one of whole images at full contrast by an unchanged network.

    Parameters
    ----------
    recording : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`.

    Returns
    -------
    str
        Sentences with a space before them, to follow others; empty for a plain recording.

    Examples
    --------
    >>> recorded_case(xr.DataTree(xr.Dataset(attrs={"provenance": '{"mask": 14, "fill": 0.0, "contrast": 0.1}'})))
    ' Of each image the central 14 x 14 pixels were hidden (filled with 0), and all of it multiplied by 0.1 (contrast).'
    """
    about = json.loads(str(recording.attrs.get("provenance", "{}")))
    said = [image_text(about), time_text(about.get("spec") or {}), network_text(about.get("interventions") or ())]
    said += [patch_text(patch) for patch in about.get("patches") or ()]
    return "".join(f" {sentence}." for sentence in said if sentence)


def image_text(about: Mapping[str, Any]) -> str:
    """Say what was done to the images, in the order in which it was done."""
    mask, contrast = about.get("mask"), float(about.get("contrast", 1.0))
    scaled = f"multiplied by {contrast:g} (contrast)"
    if not mask:
        return "" if contrast == 1 else f"Each image was {scaled}"
    fill = about.get("fill")
    filled = f"{fill:g}" if isinstance(fill, int | float) else fill
    hidden = f"Of each image the central {mask} x {mask} pixels were hidden (filled with {filled})"
    return hidden if contrast == 1 else f"{hidden}, and all of it {scaled}"


def time_text(spec: Mapping[str, Any]) -> str:
    """Say the integration times, where they are not those of the network's row."""
    times, row = spec.get("integration_time"), spec.get("row")
    if not times or spec.get("depth") == "residual" or list(times) == usual_times(row, len(times)):
        return ""
    return f"Integration times T of the blocks were {', '.join(f'{t:g}' for t in times)} (solver time)"


def usual_times(row: Any, blocks: int) -> list[float]:
    """Give the integration times of a row of the paper; none of a network that is none of these."""
    if row not in ROWS:
        return []
    return [row_spec(row).integration_time[0]] * blocks


def network_text(interventions: Sequence[str]) -> str:
    """Say what was changed in the network before it was run."""
    return f"The network was changed before it was run: {'; '.join(interventions)}" if interventions else ""


def patch_text(patch: Mapping[str, Any]) -> str:
    """Say what a patch did to h.

    Examples
    --------
    >>> patch_text({"block": 1, "time": 1.0, "how": "ablate", "channels": [0, 1], "region": None, "value": None})
    'At t = 1 h of channels 0 and 1 of block 1 was set to 0'
    >>> patch_text({"block": 2, "time": 0.5, "how": "scale", "channels": None, "region": ["8:22", ":"], "value": 2.0})
    'At t = 0.5 h of all channels of block 2 in rows 8:22 and columns : was multiplied by 2'
    """
    channels, region = patch.get("channels"), patch.get("region")
    which = "all channels" if channels is None else channels_text(channels)
    where = ""
    if region is not None:
        where = f" in rows {region[0]} and columns {region[1]}" if isinstance(region, list) else " in a region"
    return f"At t = {patch['time']:g} h of {which} of block {patch['block']}{where} was {change_text(patch)}"


def channels_text(channels: Sequence[int]) -> str:
    """Name channels; of many, how many they are."""
    if len(channels) > 8:
        return f"{len(channels)} channels"
    return f"channel{'s' if len(channels) > 1 else ''} {listed([str(channel) for channel in channels])}"


def change_text(patch: Mapping[str, Any]) -> str:
    """Say how a patch changed h, and by which number where it is one."""
    how, value = patch["how"], patch.get("value")
    number = f"{value:g}" if isinstance(value, int | float) else "given numbers"
    if how == "replace":
        return f"replaced by that of {'another recording' if 'recording' in (value or ()) else 'given maps'}"
    words = {"ablate": "set to 0", "set": f"set to {number}", "scale": f"multiplied by {number}"}
    return words.get(how, f"changed ({how})")
