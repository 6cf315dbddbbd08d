"""What one layer's filters are: scale, energy, window, shape and frequency response of each."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.filters.energy import energy_cut, filter_energy
from dcnbio.analysis.filters.frequency_response import frequency_response
from dcnbio.analysis.filters.kinds import KINDS, sort_filters
from dcnbio.analysis.filters.sampled_gaussian import basis_orders, effective_sigma, half_width, sampled_taps
from dcnbio.analysis.shapes import Floats, Integers
from dcnbio.errors import InputError

__all__ = ["filter_measures", "spatial_inputs", "time_inputs", "window_of"]

UNITS = {
    "sigma": ("nominal scale", "pixels"),
    "effective_sigma": ("standard deviation of the sampled and cut Gaussian", "pixels"),
    "kernel_size": ("width of the kernel", "pixels"),
    "energy": ("sum of the squared weights", "1"),
    "energy_cut": ("share of the energy outside the window", "1"),
    "odd": ("share of the energy in the odd part", "1"),
    "even": ("share of the energy in the even oriented part", "1"),
    "isotropic": ("share of the energy in the isotropic part", "1"),
    "kind": ("shape of the filter", "1"),
    "orientation": ("direction of strongest variation, from x towards y", "degrees"),
    "peak_frequency": ("spatial frequency of the largest response", "cycles/pixel"),
    "peak_direction": ("direction of the wave vector of the largest response, from x towards y", "degrees"),
    "centroid_frequency": ("mean spatial frequency, weighted with the squared response", "cycles/pixel"),
    "response_at_zero": ("response to a uniform image over the largest response", "1"),
    "spectrum": ("squared response, averaged over directions and filters", "1"),
}


def spatial_inputs(layer: xr.Dataset) -> xr.Dataset:
    """Keep the filters whose input is a map, leaving out those of the time channel."""
    return layer.isel(input=slice(int(layer.attrs["time_channel"]), None))


def time_inputs(layer: xr.Dataset) -> xr.Dataset:
    """Keep the filters of the time channel, a plane of value t; there may be none."""
    return layer.isel(input=slice(0, int(layer.attrs["time_channel"])))


def window_of(layer: xr.Dataset, sigma: Floats) -> Integers:
    """Give the half-width of the windows in pixels, in the shape of `sigma`."""
    if layer.attrs["per_pair"]:
        return np.full(sigma.shape, (int(layer.attrs["pair_size"]) - 1) // 2)
    return half_width(sigma, float(layer.attrs["window"]))


def checked_layer(layer: xr.Dataset) -> None:
    """Refuse what is no record of filters, or whose basis functions come in another order."""
    missing = [name for name in ("alpha", "log2_sigma") if name not in layer]
    missing += [name for name in ("per_pair", "time_channel", "window", "pair_size") if name not in layer.attrs]
    if missing:
        raise InputError(f"the record of filters lacks {missing[0]}; make it with dcnbio.probe.filters.record_filters.")
    orders = list(zip(layer["order_y"].values.tolist(), layer["order_x"].values.tolist(), strict=True))
    if orders != basis_orders(layer.sizes["function"]):
        raise InputError(f"the basis functions come in the order {orders}; an N-jet's are in that of basis_orders.")


def filter_measures(layer: xr.Dataset, time: int = 0) -> xr.Dataset:
    """Measure every filter of a layer whose input is a map.

    Parameters
    ----------
    layer : xarray.Dataset
        A node of `dcnbio.probe.filters.record_filters`.
    time : int
        Index of the solver time.

    Returns
    -------
    xarray.Dataset
        Per filter (output, input): ``sigma``, ``effective_sigma``, ``kernel_size``, ``energy``, ``energy_cut``,
        ``odd``, ``even``, ``isotropic``, ``kind`` (codes of `KINDS`), ``orientation``, ``peak_frequency``,
        ``peak_direction``, ``centroid_frequency``, ``response_at_zero``; and ``spectrum`` (frequency).

    Raises
    ------
    InputError
        If the record lacks a variable or has basis functions in another order.
    """
    checked_layer(layer)
    chosen = spatial_inputs(layer).isel(time=time)
    alpha = chosen["alpha"].values.astype(np.float64)
    sigma = np.exp2(chosen["log2_sigma"].values.astype(np.float64))
    half = window_of(chosen, sigma)
    taps = sampled_taps(sigma, int(chosen["order_y"].values.max()), half)
    kinds = sort_filters(alpha, taps)
    response = frequency_response(alpha, taps)
    found = {
        "sigma": sigma,
        "effective_sigma": effective_sigma(sigma, half),
        "kernel_size": 2 * half + 1,
        "energy": filter_energy(alpha, taps),
        "energy_cut": energy_cut(alpha, sigma, half),
        "odd": kinds.odd,
        "even": kinds.even,
        "isotropic": kinds.isotropic,
        "kind": kinds.kind,
        "orientation": kinds.orientation,
        "peak_frequency": response.peak,
        "peak_direction": response.direction,
        "centroid_frequency": response.centroid,
        "response_at_zero": response.at_zero,
    }
    grid = alpha.shape[1:]
    variables = {
        name: (("input", "output"), np.broadcast_to(values, grid), about(name)) for name, values in found.items()
    }
    variables["kind"][2]["codes"] = ", ".join(f"{code} {kind}" for code, kind in enumerate(KINDS))
    frequency = ("frequency", response.frequency, {"long_name": "radial spatial frequency", "units": "cycles/pixel"})
    spectrum = xr.Dataset({"spectrum": ("frequency", response.spectrum, about("spectrum"))}, {"frequency": frequency})
    return xr.Dataset(variables, attrs=layer.attrs).transpose("output", "input").merge(spectrum)


def about(name: str) -> dict[str, str]:
    """Give the attributes of a measure."""
    long_name, units = UNITS[name]
    return {"long_name": long_name, "units": units}
