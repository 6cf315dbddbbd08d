"""Records the filters of a network: weights of the basis functions and scales, before and after training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import read_header
from dcnbio.model.device import double
from dcnbio.model.gaussian import basis_orders
from dcnbio.model.loading import find_checkpoint, load
from dcnbio.model.network import Network
from dcnbio.model.run_parts import spent
from dcnbio.model.scales import in_depth_order, layer_label
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.vector_field import ConvField
from dcnbio.model.weights import weights_id
from dcnbio.recording.provenance import provenance_json

__all__ = ["checkpoint_filters", "record_filters"]

TIMES = 3


def block_of(name: str) -> int:
    """Give the number of a layer's block, 0 outside the blocks."""
    parts = name.split(".")
    return int(parts[1]) + 1 if parts[0] == "blocks" else 0


def has_time_channel(net: Network, name: str) -> bool:
    """Say whether a layer's first input channel is the plane of value t."""
    owner = net.get_submodule(name.rpartition(".")[0]) if "." in name else net
    return isinstance(owner, ConvField)


def solver_times(net: Network, name: str, layer: SRFConv2d) -> list[float]:
    """Give the solver times a layer is recorded at: 0, and up to T where its filters change."""
    if not layer.time_dependent or block_of(name) == 0:
        return [0.0]
    return [float(t) for t in np.linspace(0, net.spec.integration_time[block_of(name) - 1], TIMES)]


def initial_values(initial: Mapping[str, Sequence[float]], name: str, layer: SRFConv2d) -> np.ndarray:
    """Give log2 sigma of a layer before training in its shape."""
    shape = tuple(layer.log2_sigma.offset.shape)
    values, expected = np.array(initial[name], dtype=np.float64), math.prod(shape)
    if values.size != expected:
        raise InputError(
            f"the initial log2 sigma of {name} has {values.size} values where the layer has {expected}; they "
            "belong to another network, so save the checkpoint again with its own."
        )
    return values.reshape(shape if layer.rule.per_pair else ())


def layer_dataset(net: Network, name: str, initial: Mapping[str, Sequence[float]]) -> xr.Dataset:
    """Record one layer."""
    layer = net.get_submodule(name)
    if not isinstance(layer, SRFConv2d):
        raise InputError(f"{name} has free pixel weights and no scale; only SRF layers are recorded.")
    rule, times = layer.rule, solver_times(net, name, layer)
    at = [torch.tensor(t, dtype=torch.float64) for t in times]
    alpha = np.stack([double(layer.alpha(t)).cpu().numpy() for t in at])
    scales = np.stack([double(layer.log2_sigma(t)).cpu().numpy() for t in at])
    pair = ("input", "output") if rule.per_pair else ()
    orders = basis_orders(rule.order)
    octaves = {"units": "octaves (log2 of pixels)"}
    variables = {
        "alpha": (("time", "function", "input", "output"), alpha, {"long_name": "basis weights", "units": "1"}),
        "log2_sigma": (
            ("time", *pair),
            scales if rule.per_pair else scales[:, 0],
            {"long_name": "log2 of the nominal scale", **octaves},
        ),
    }
    if name in initial:
        values = initial_values(initial, name, layer)
        variables["log2_sigma_initial"] = (pair, values, {"long_name": "log2 scale before training", **octaves})
    coordinates = {
        "time": ("time", times, {"long_name": "solver time", "units": "solver time"}),
        "order_y": ("function", [y for y, _ in orders], {"long_name": "derivative order along y", "units": "1"}),
        "order_x": ("function", [x for _, x in orders], {"long_name": "derivative order along x", "units": "1"}),
    }
    attributes = {
        "layer": name,
        "block": block_of(name),
        "per_pair": int(rule.per_pair),
        "time_channel": int(has_time_channel(net, name)),
        "window": float(rule.extent),
        "pair_size": int(rule.pair_size),
    }
    return xr.Dataset(variables, coordinates, attributes)


@torch.no_grad()
def record_filters(net: Network, initial: Mapping[str, Sequence[float]] | None = None) -> xr.DataTree:
    """Record the filters of all SRF layers: alpha and log2 sigma (eq. 1), and log2 sigma before training.

    Parameters
    ----------
    net : Network
    initial : mapping of str to sequence of float, optional
        log2 sigma of each layer before training, flattened, as a checkpoint's header keeps it.

    Returns
    -------
    xarray.DataTree
        One node per layer in order of depth, ``block1_conv1`` and so on: ``alpha`` (time, function, input, output),
        ``log2_sigma`` (time, input, output) or (time), ``log2_sigma_initial`` without time where it is known. Layers
        that change in time are recorded at three solver times from 0 to T, others at 0.

    Raises
    ------
    InputError
        If the network has no SRF layer, or the initial values do not fit it.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> tree = record_filters(build("dcn-ode"))
    >>> list(tree.children)[:2], dict(tree["block1_conv1"]["alpha"].sizes)
    (['block1_conv1', 'block1_conv2'], {'time': 1, 'function': 6, 'input': 33, 'output': 32})
    """
    layers = [name for name, _ in in_depth_order(net)]
    if not layers:
        raise InputError(
            f"{net.spec.row} has no SRF layers: all its kernels have free pixel weights and no scale; choose a DCN."
        )
    tree = xr.DataTree(
        xr.Dataset(
            attrs={
                "row": net.spec.row,
                "spec": provenance_json(net.spec.to_dict()),
                "weights": weights_id(net.state_dict()),
                "network": str(net.source.get("file") or net.source.get("imported") or net.source.get("built") or ""),
            }
        )
    )
    for name in layers:
        tree[layer_label(name)] = xr.DataTree(layer_dataset(net, name, initial or {}))
    return tree


def checkpoint_filters(name: str | Path, model: str | None = None) -> xr.DataTree:
    """Record the filters of a checkpoint, with the scales before training if its header has them.

    Parameters
    ----------
    name : str or Path
        As `dcnbio.load` takes it.
    model : str, optional
        The row of a public .pth.

    Returns
    -------
    xarray.DataTree
        See `record_filters`; with the attributes ``initial_sigma`` (where the scales began), ``trained``, and as far
        as they are recorded ``seed`` (of training) and ``passes`` (images trained on, those of earlier runs that it
        went on from included).

    Examples
    --------
    >>> layer = checkpoint_filters("dcn-ode-untrained")["block3_conv2"]
    >>> float(layer["log2_sigma_initial"]) == float(layer["log2_sigma"].mean())
    True
    """
    path = find_checkpoint(name)
    net = load(path, model)
    if path.suffix != ".safetensors":
        return record_filters(net)
    header = read_header(path)
    tree = record_filters(net, header.initial_log2_sigma)
    trained = header.metrics.get("passes", 1) != 0
    tree.attrs |= {"initial_sigma": header.recipe.get("initial_sigma", "paper"), "trained": int(trained)}
    if "seed" in header.metrics:
        tree.attrs["seed"] = int(header.metrics["seed"])
    if "passes" in header.metrics:
        tree.attrs["passes"] = int(spent(header.recipe, header.metrics, "passes"))
    return tree
