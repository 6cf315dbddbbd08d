"""Packs trajectories of a few images and channels, intact and masked, into the page's interactive view of h(t)."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from PIL import Image

from dcnbio.errors import InputError
from dcnbio.report.template import template

__all__ = ["map_viewer", "packed_maps", "viewer_data"]

WHOLE = 32767
CHANNELS = 6

Maps = NDArray[np.floating[Any]]


def packed_maps(intact: Maps, masked: Maps) -> dict[str, Any]:
    """Write maps as whole numbers of 16 bits in units of their largest value / 32767.

    Parameters
    ----------
    intact, masked : array, shape (time, y, x)

    Returns
    -------
    dict
        ``scale``, and both as base64 of little-endian numbers.

    Raises
    ------
    InputError
        If a value is not finite.

    Examples
    --------
    >>> packed_maps(np.array([[[0.5]]]), np.array([[[-1.0]]]))
    {'scale': 1.0, 'intact': '/z8=', 'masked': 'AYA='}
    """
    scale = float(max(np.abs(intact).max(), np.abs(masked).max()))
    if not np.isfinite(scale):
        raise InputError("maps hold values that are not finite; show images that were solved in every block.")
    scale = scale or 1.0

    def text(maps: Maps) -> str:
        whole = np.trunc(maps.astype(np.float64) / scale * WHOLE).astype("<i2")
        return base64.b64encode(whole.tobytes()).decode()

    return {"scale": scale, "intact": text(intact), "masked": text(masked)}


def png_link(image: NDArray[np.floating[Any]]) -> str:
    """Write an image, (channel, y, x) in [0, 1], as a PNG in a link."""
    file = io.BytesIO()
    pixels = np.clip(np.round(255 * np.moveaxis(image, 0, -1)), 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def widest_channels(h: Maps, count: int) -> list[int]:
    """Give the channels whose maps vary most at the last time, the widest first.

    Parameters
    ----------
    h : array, shape (stimulus, time, channel, y, x)
    count : int
    """
    spread = h[:, -1].std(axis=(-2, -1)).mean(0)
    return [int(channel) for channel in np.argsort(-spread, kind="stable")[:count]]


def block_data(name: str, intact: xr.Dataset, masked: xr.Dataset) -> dict[str, Any]:
    """Pack one block."""
    order = ("stimulus", "time", "channel", "y", "x")
    a, b = (data["h"].transpose(*order).values for data in (intact, masked))
    numbers = intact["channel"].values if "channel" in intact.coords else np.arange(a.shape[2])
    channels = [
        {
            "index": int(numbers[channel]),
            "images": [packed_maps(a[i, :, channel], b[i, :, channel]) for i in range(len(a))],
        }
        for channel in widest_channels(a, CHANNELS)
    ]
    times = [round(float(t), 6) for t in intact["time"].values]
    return {"name": name, "times": times, "size": list(a.shape[-2:]), "channels": channels}


def label_names(recording: xr.Dataset) -> list[str]:
    """Give the name of each image's class, empty where it has none."""
    if "label" not in recording:
        return [""] * recording.sizes["stimulus"]
    classes = [str(name) for name in recording["class"].values] if "class" in recording.coords else []
    labels = recording["label"].values.tolist()
    return [classes[label] if 0 <= label < len(classes) else "" for label in labels]


def viewer_data(
    intact: xr.DataTree, masked: xr.DataTree, pixels: Mapping[str, NDArray[np.floating[Any]]]
) -> dict[str, Any]:
    """Gather what the view shows.

    Parameters
    ----------
    intact, masked : xarray.DataTree
        Recordings of the same images at the same times, from `dcnbio.probe`.
    pixels : mapping
        The images ("intact") and the images under their mask ("masked"), (stimulus, channel, y, x) in [0, 1].

    Raises
    ------
    InputError
        If the recordings are not of the same images and times.
    """
    about, other = intact.to_dataset(), masked.to_dataset()
    stimuli = about["stimulus"].values
    if not np.array_equal(stimuli, other["stimulus"].values):
        raise InputError("intact and masked are recordings of different images; record the same ones.")
    names = label_names(about)
    images = [
        {
            "name": f"image {int(stimulus)}" + (f", {name}" if name else ""),
            "intact": png_link(pixels["intact"][i]),
            "masked": png_link(pixels["masked"][i]),
        }
        for i, (stimulus, name) in enumerate(zip(stimuli, names, strict=True))
    ]
    blocks = []
    for name in intact.children:
        a, b = intact[name].to_dataset(), masked[name].to_dataset()
        if not np.array_equal(a["time"].values, b["time"].values):
            raise InputError(f"intact and masked were recorded at different times of {name}; record the same ones.")
        blocks.append(block_data(name, a, b))
    return {"images": images, "blocks": blocks}


def map_viewer(intact: xr.DataTree, masked: xr.DataTree, pixels: Mapping[str, NDArray[np.floating[Any]]]) -> str:
    """Write the interactive view as HTML that works without a network; see `viewer_data` for what it takes.

    Parameters
    ----------
    intact, masked : xarray.DataTree
        Recordings of the same images at the same times, from `dcnbio.probe`.
    pixels : mapping of str to array
        The images ("intact") and the images under their mask ("masked"), (stimulus, channel, y, x) in [0, 1].

    Returns
    -------
    str
        HTML with its data and script inside.

    Raises
    ------
    InputError
        If the recordings are not of the same images and times, or hold values that are not finite.

    Notes
    -----
    Maps are stored to 1/32767 of the largest value of their image and channel; the channels shown are the six whose
    maps vary most at the last time.

    Examples
    --------
    >>> import dcnbio
    >>> net = dcnbio.build("dcn-ode", widths=(8,), norm_groups=4, integration_time=0.5)
    >>> pixels = np.random.default_rng(0).random((2, 3, 32, 32), dtype=np.float32)
    >>> intact, masked = (dcnbio.probe(net, pixels, times=2, mask=side) for side in (None, 14))
    >>> "http" in map_viewer(intact, masked, {"intact": pixels, "masked": pixels})
    False
    """
    # "<" could end the script early
    text = json.dumps(viewer_data(intact, masked, pixels), separators=(",", ":")).replace("<", "\\u003c")
    script = template("viewer.js")
    return (
        f'{template("viewer.html")}\n<script type="application/json" id="viewer-data">{text}</script>\n'
        f"<script>{script}</script>"
    )
