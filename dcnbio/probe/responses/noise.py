"""Effective receptive fields by noise correlation, with what the network does in response and no gradient."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.images.white_noise import white_noise
from dcnbio.model.network import Network
from dcnbio.probe.responses.units import UnitSettings, record_units

__all__ = ["record_noise_fields"]


def record_noise_fields(
    net: Network,
    rng: np.random.Generator,
    n: int = 2000,
    *,
    contrast: float = 0.25,
    settings: UnitSettings | None = None,
) -> xr.Dataset:
    """Correlate h(T) of one unit per channel with Gaussian white noise: its mean linear receptive field.

    By Stein's lemma the correlation over the noise's variance is the mean gradient over the noise: the two methods
    measure the same field, this one with an error of about sd(h) / (sd(noise) sqrt n) in every pixel.

    Parameters
    ----------
    net : Network
    rng : numpy.random.Generator
        Draws the noise.
    n : int
        Images, at least 10.
    contrast : float
        RMS contrast of the noise.
    settings : UnitSettings, optional

    Returns
    -------
    xarray.Dataset
        ``noise_field`` (unit, y, x), of h over luminance, and ``noise_error`` (unit), the standard error of its pixels;
        coordinates as from `record_units`.

    Raises
    ------
    InputError
        If `n` is too small.

    Notes
    -----
    The norms' global part is in it, spread thinly over all pixels.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.1)
    >>> found = record_noise_fields(net, np.random.default_rng(0), 20)
    >>> found["noise_field"].shape
    (4, 32, 32)
    """
    if n < 10:
        raise InputError(f"n is {n}; a correlation with noise needs at least 10 images, and some thousands to be read.")
    settings = settings or UnitSettings(times=2)
    images = white_noise(n, rng, contrast=contrast)
    recording = record_units(net, images, settings)
    h = (recording["h_start"] + recording["h_change"].isel(time=-1)).values
    noise = images[:, 0].astype(np.float64) - settings.luminance
    noise -= noise.mean(0)
    deviation = h - h.mean(0)
    variance = (noise**2).mean()
    field = np.einsum("nu,nyx->uyx", deviation, noise) / (n * variance)
    error = deviation.std(0) / np.sqrt(n * variance)
    units = {"units": "h / luminance"}
    return xr.Dataset(
        {
            "noise_field": (("unit", "y", "x"), field, {"long_name": "receptive field by noise correlation", **units}),
            "noise_error": ("unit", error, {"long_name": "standard error of its pixels", **units}),
        },
        {name: recording[name] for name in ("block", "channel", "pixel_y", "pixel_x")},
    )
