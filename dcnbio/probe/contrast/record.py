"""A whole contrast experiment on one network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id
from dcnbio.probe.contrast.law import law
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.parts import factorial, response, tolerance
from dcnbio.probe.contrast.passes import check_network
from dcnbio.probe.contrast.settings import ContrastSettings
from dcnbio.probe.contrast.surface import surface
from dcnbio.probe.contrast.whole import WHOLE_PROTOCOLS, whole_network
from dcnbio.probe.stimuli import Stimuli, as_stimuli

__all__ = ["passes_of", "record_contrast"]

CHUNK = 50  # images whose maps are held at once
COORDINATES = {
    "contrast": ("contrast c: factor of the image, or of the input of every block", "1"),
    "time": ("integration time of block 1", "solver time"),
    "block": ("block, from 1", "1"),
    "protocol": ("what is scaled along with contrast", "1"),
    "eps": ("eps as it is (0) or scaled along with contrast (1)", "1"),
    "time_term": ("time term as it is (0) or read at t / c (1)", "1"),
    "solver_tolerance": ("solver's tolerance as it is (0) or scaled along with contrast (1)", "1"),
}


def passes_of(settings: ContrastSettings, images: int) -> int:
    """Count image passes, for a progress bar."""
    few, s = min(settings.few, images), settings
    many = 1 + 2 * len(s.contrasts) + 1 + len(WHOLE_PROTOCOLS) * len(s.whole)
    ratios = len({round(np.log10(a / b), 9) for a in s.surface for b in s.surface})
    # the factorial runs contrast 1 once more
    costly = 1 + 10 * len(s.attributed) + 1 + len(s.looser) + len(s.surface) ** 2 + ratios
    return many * images + costly * few + min(s.precise, images)


def in_chunks(part: Callable[[Experiment], xr.Dataset], experiment: Experiment, n: int) -> xr.Dataset:
    """Run a part on the first n images, some at a time, so that few maps are held."""
    chunks = torch.split(experiment.images[:n], CHUNK)
    found = [part(replace(experiment, images=chunk)) for chunk in chunks]
    joined = xr.concat(found, "stimulus", data_vars="minimal", coords="minimal", compat="override", join="override")
    return joined if n >= len(experiment.images) else joined.rename_dims({"stimulus": "first_stimulus"})


def labelled(data: xr.Dataset, classes: int) -> Stimuli:
    """Take images of which each is whole and has its class."""
    stimuli = as_stimuli(data)
    if any(stimuli.problems):
        where = next(i for i, why in enumerate(stimuli.problems) if why)
        raise InputError(f"image {where} of the images has {stimuli.problems[where]}; leave it out.")
    labels = stimuli.labels_for(classes)
    if (labels < 0).any() or (labels >= classes).any():
        raise InputError(
            f"the images of {stimuli.source} have no labels of the network's classes; accuracy needs them."
        )
    return stimuli


def record_contrast(
    net: Network,
    data: xr.Dataset,
    settings: ContrastSettings | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> xr.DataTree:
    """Run a network over contrasts, and over what breaks the scaling law.

    Parameters
    ----------
    net : Network
        With ODE blocks; it is left as it was. float32.
    data : xarray.Dataset
        From `load_images`, with labels.
    settings : ContrastSettings, optional
    progress : callable, optional
        Called with a number of images after each pass; `passes_of` says how many there will be.

    Returns
    -------
    xarray.DataTree
        Nodes ``response``, ``whole_network``, ``factorial``, ``tolerance``, ``surface``, ``law``; see the functions of
        these names. The root has ``label`` (stimulus), and provenance in its attributes.

    Raises
    ------
    InputError
        If the network has residual blocks, images have no labels or are no numbers, or a setting is not allowed.

    Examples
    --------
    >>> import dcnbio
    >>> net = dcnbio.build("dcn-ode", widths=(4, 8), integration_time=0.2)
    >>> small = ContrastSettings(contrasts=(0.1,), attributed=(0.1,), whole=(0.1,), few=1, looser=(1,), surface=(1,))
    >>> tree = record_contrast(net, dcnbio.load_images(limit=2), small)
    >>> tree["factorial"]["nfe"].dims
    ('contrast', 'eps', 'time_term', 'solver_tolerance', 'first_stimulus', 'block')
    """
    settings = settings or ContrastSettings()
    check_network(net)
    stimuli = labelled(data, net.spec.classes)
    weight = next(net.parameters())
    images = torch.from_numpy(stimuli.images).to(weight)
    experiment = Experiment(net, images, settings, progress or (lambda n: None))
    label = {"long_name": "class", "units": "1"}
    tree = xr.DataTree(xr.Dataset({"label": ("stimulus", stimuli.labels, label)}))
    for name, dataset in all_parts(experiment).items():
        tree[name] = xr.DataTree(dataset)
    tree.attrs = {
        "row": net.spec.row,
        "weights": weights_id(net.state_dict()),
        "images": stimuli.identity,
        "source": stimuli.source,
        "n": len(stimuli),
        "few": min(settings.few, len(images)),
        "rtol": settings.rtol,
        "atol": settings.atol,
        "channels_per_group": net.spec.widths[0] // net.spec.groups(net.spec.widths[0]),
        "method": "dopri5",
    }
    return tree


def all_parts(experiment: Experiment) -> dict[str, xr.Dataset]:
    """Run every part on as many images as it is given."""
    settings, every = experiment.settings, len(experiment.images)
    few = min(settings.few, every)
    found = {
        "response": in_chunks(response, experiment, every),
        "whole_network": whole_network(experiment),
        "factorial": in_chunks(factorial, experiment, few),
        "tolerance": in_chunks(tolerance, experiment, few),
        "surface": in_chunks(surface, experiment, few),
        "law": in_chunks(law, experiment, min(settings.precise, every)),
    }
    for dataset in found.values():
        for name in COORDINATES.keys() & dataset.coords.keys():
            long_name, units = COORDINATES[name]
            dataset[name].attrs = {"long_name": long_name, "units": units}
    return found
