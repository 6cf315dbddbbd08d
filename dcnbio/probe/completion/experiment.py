"""The completion experiment on one network: a labelled Dataset of numbers per image, block, time and condition."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.model.given_network import check_network
from dcnbio.model.network import Network
from dcnbio.model.no_time import refuse_no_time
from dcnbio.model.weights import weights_id
from dcnbio.probe.completion.conditions import Condition, conditions
from dcnbio.probe.completion.measure import Bench, Measured, measure
from dcnbio.probe.completion.settings import CompletionSettings
from dcnbio.probe.completion.twins import FLOW, Variant, variants
from dcnbio.probe.precision import moved
from dcnbio.probe.stimuli import Stimuli, as_stimuli
from dcnbio.recording.reductions.completion_regions import REGIONS

__all__ = ["completion_experiment", "passes"]

IMAGE, OTHERS = ("condition", "block", "stimulus", "time"), ("condition", "block", "region", "stimulus", "time")
VARIABLES = {
    "distance": (OTHERS, "Euclidean distance from the own intact image, group-normalised maps", "1"),
    "between": (OTHERS, "mean Euclidean distance from other intact images of the batch, group-normalised maps", "1"),
    "difference": (IMAGE, "sum of |h_intact - h| over channels and positions", "1"),
    "amplitude": (IMAGE, "sum of |h_intact| over channels and positions", "1"),
    "nearer": (IMAGE, "other intact images nearer than the own one; NaN at times not searched", "images"),
    "logits": (("condition", "stimulus", "time", "class"), "class scores read out of the last block at t", "1"),
}
LEAST_IMAGES = 4


def passes(net: Network, n: int, settings: CompletionSettings) -> int:
    """Count how many times an image is passed through the network or a twin of it: what a progress bar counts.

    Parameters
    ----------
    net : Network
    n : int
        Images.
    settings : CompletionSettings

    Returns
    -------
    int
    """
    shown = conditions(settings)
    runs = len(shown) + len({one.reference for one in shown}) - 1
    return n * runs * len(variants(net, settings))


def usable(data: xr.Dataset | NDArray[Any] | torch.Tensor | Stimuli) -> tuple[Stimuli, int]:
    """Take the images that can be used; say how many others there were."""
    stimuli = as_stimuli(data)
    chosen = stimuli.usable(len(stimuli))
    if len(chosen) < LEAST_IMAGES:
        raise InputError(
            f"there are {len(chosen)} images that can be used; completion compares images with each other and needs at "
            f"least {LEAST_IMAGES}, so raise the limit."
        )
    return chosen, len(stimuli) - len(chosen)


def completion_experiment(
    net: Network,
    data: xr.Dataset | NDArray[Any] | torch.Tensor,
    settings: CompletionSettings | None = None,
    *,
    tick: Callable[[int], object] | None = None,
) -> dict[str, xr.Dataset]:
    """Show a network and its twins intact, masked and otherwise changed images.

    Parameters
    ----------
    net : Network
        It is left as it was; run in float32 with own steps for each image.
    data : xarray.Dataset, or array (n, 3, y, x) in [0, 1]
        Images, at least four.
    settings : CompletionSettings, optional
    tick : callable, optional
        Called with a number of images whenever so many more have been passed, see `passes`.

    Returns
    -------
    dict of str to xarray.Dataset
        By variant: "flow", "one Euler step", "no time" (ResNet rows: "flow" alone, of two times). Dimensions
        ``condition``, ``block``, ``region`` (whole, inside, border and outside of the mask's place), ``stimulus``,
        ``time``, ``class``. Variables ``distance``, ``between``, ``difference``, ``amplitude``, ``nearer``,
        ``logits``, ``label``, ``positions``, ``solver_time``, ``alignment``, ``solved``. Images whose solve ended early
        are NaN where ``solved`` is 0.

    Raises
    ------
    InputError
        If there are too few images, or they are no RGB images in [0, 1].

    Notes
    -----
    Noise of the norm of a mask's change takes pixels out of [0, 1]. ``region`` is the place of the mask on a map, from
    the layers between; it is no claim that "outside" is untouched, see `seen_pixels`.

    Examples
    --------
    >>> import dcnbio
    >>> net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=2, integration_time=0.1)
    >>> small = CompletionSettings(masks=(14,), controls=False, times=2)
    >>> found = completion_experiment(net, np.random.default_rng(0).random((4, 3, 32, 32), dtype=np.float32), small)
    >>> dict(found["flow"]["distance"].sizes)
    {'condition': 4, 'block': 2, 'region': 4, 'stimulus': 4, 'time': 2}
    """
    settings = settings or CompletionSettings()
    check_network(net)
    refuse_no_time(net)
    stimuli, left_out = usable(data)
    shown = conditions(settings)
    found = {}
    for variant in variants(moved(net, torch.float32, "cpu"), settings):
        bench = Bench(variant, stimuli.images, shown, settings.batch_size, settings.seed, tick or (lambda images: None))
        about = {**provenance(net, stimuli, settings), "left_out": left_out, "variant": variant.name}
        found[variant.name] = labelled(measure(bench), shown, stimuli, variant).assign_attrs(about)
    return found


def provenance(net: Network, stimuli: Stimuli, settings: CompletionSettings) -> dict[str, Any]:
    """Name what the numbers follow from."""
    spec = net.spec
    return {
        "row": spec.row,
        "depth": spec.depth,
        "spec": json.dumps(spec.to_dict()),
        "weights": weights_id(net.state_dict()),
        "images": stimuli.identity,
        "source": stimuli.source,
        "settings": json.dumps(vars(settings)),
        "main": settings.main,
        "flow": FLOW,
    }


def labelled(found: Measured, shown: list[Condition], stimuli: Stimuli, variant: Variant) -> xr.Dataset:
    """Give arrays their names."""
    data = xr.Dataset(
        coords={
            "condition": [one.name for one in shown],
            "block": np.arange(1, len(variant.net.blocks) + 1),
            "region": list(REGIONS),
            "stimulus": stimuli.stimulus,
            "fraction": ("time", np.linspace(0, 1, variant.times), {"long_name": "t / T", "units": "1"}),
            "kind": ("condition", [one.kind for one in shown]),
            "side": ("condition", [one.side for one in shown], {"long_name": "side of the square", "units": "pixels"}),
            "fill": ("condition", [one.fill for one in shown]),
            "reference": ("condition", [one.reference for one in shown]),
        }
    )
    for name, (dims, long_name, units) in VARIABLES.items():
        values = found.arrays[name]
        data[name] = (dims, values, {"long_name": long_name, "units": units})
    plain: dict[str, tuple[Any, Any, str, str]] = {
        "label": (
            "stimulus",
            stimuli.labels_for(variant.net),
            "class of the image, -1 where unknown",
            "1",
        ),
        "positions": (("condition", "block", "region"), found.positions, "positions of a map in a region", "positions"),
        "solver_time": (("block", "time"), found.solver_time, "solver time", "solver time"),
        "alignment": ("time", found.alignment, "unbiased linear CKA with the last block's maps at T", "1"),
        "solved": (("condition", "stimulus"), found.solved.astype(np.int8), "whether the solve reached T", "1"),
    }
    for name, (dims, values, long_name, units) in plain.items():
        data[name] = (dims, values, {"long_name": long_name, "units": units})
    return data
