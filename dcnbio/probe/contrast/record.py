"""A whole contrast experiment on one network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id
from dcnbio.probe.contrast.law import law
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.parts import factorial, response
from dcnbio.probe.contrast.passes import check_network
from dcnbio.probe.contrast.settings import ContrastSettings
from dcnbio.probe.contrast.surface import surface
from dcnbio.probe.contrast.tolerance import tolerance
from dcnbio.probe.contrast.whole import WHOLE_PROTOCOLS, whole_network
from dcnbio.probe.stimuli import Stimuli, as_stimuli

__all__ = ["PARTS", "passes_of", "record_contrast"]

PARTS = ("response", "whole_network", "factorial", "tolerance", "surface", "law")
CHUNK = 50  # images whose maps are held at once
COORDINATES = {
    "contrast": ("contrast c: factor of the image, or of the input of every block", "1"),
    "time": ("integration time of block 1", "solver time"),
    "block": ("block, from 1", "1"),
    "equation": ("eps and time term as they are, or scaled along with contrast", "1"),
    "protocol": ("what is scaled along with contrast", "1"),
    "eps": ("eps as it is (0) or scaled along with contrast (1)", "1"),
    "time_term": ("time term as it is (0) or read at t / c (1)", "1"),
    "solver_tolerance": ("solver's tolerance as it is (0) or scaled along with contrast (1)", "1"),
}


def passes_of(settings: ContrastSettings, images: int, parts: Sequence[str] = PARTS) -> int:
    """Count image passes, for a progress bar."""
    few, s = min(settings.few, images), settings
    ratios = len({round(np.log10(a / b), 9) for a in s.surface for b in s.surface})
    passes = {
        "response": (1 + 2 * len(s.contrasts)) * images,
        "whole_network": (1 + len(WHOLE_PROTOCOLS) * len(s.whole)) * images,
        "factorial": (1 + 8 * len(s.attributed)) * few,
        "tolerance": (1 + len(s.looser) + 4 * len(s.attributed)) * few,
        "surface": (len(s.surface) ** 2 + ratios) * few,
        "law": min(s.precise, images),
    }
    return sum(passes[part] for part in parts)


def in_chunks(part: Callable[[Experiment], xr.Dataset], experiment: Experiment, n: int) -> xr.Dataset:
    """Run a part on the first n images, some at a time, so that few maps are held."""
    chunks = torch.split(experiment.images[:n], CHUNK)
    found = [part(replace(experiment, images=chunk)) for chunk in chunks]
    joined = xr.concat(found, "stimulus", data_vars="minimal", coords="minimal", compat="override", join="override")
    return joined if n >= len(experiment.images) else joined.rename_dims({"stimulus": "first_stimulus"})


def labelled(data: xr.Dataset, net: Network) -> Stimuli:
    """Take images of which each is whole and has its class, counted as the network counts them."""
    stimuli = as_stimuli(data)
    if any(stimuli.problems):
        where = next(i for i, why in enumerate(stimuli.problems) if why)
        raise InputError(f"image {where} of the images has {stimuli.problems[where]}; leave it out.")
    labels = stimuli.labels_for(net)
    if (labels < 0).any() or (labels >= net.spec.classes).any():
        raise InputError(
            f"the images of {stimuli.source} have no labels of the network's classes; accuracy needs them."
        )
    return replace(stimuli, labels=labels)


def record_contrast(
    net: Network,
    data: xr.Dataset,
    settings: ContrastSettings | None = None,
    *,
    progress: Callable[[int], None] | None = None,
    parts: Sequence[str] = PARTS,
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
    parts : sequence of str
        Which of the nodes to make; `analyze_contrast` needs all.

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
    stimuli = labelled(data, net)
    weight = next(net.parameters())
    images = torch.from_numpy(stimuli.images).to(weight)
    experiment = Experiment(net, images, settings, progress or (lambda n: None))
    label = {"long_name": "class", "units": "1"}
    tree = xr.DataTree(xr.Dataset({"label": ("stimulus", stimuli.labels, label)}))
    for name, dataset in recorded_parts(experiment, parts).items():
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


def recorded_parts(experiment: Experiment, parts: Sequence[str]) -> dict[str, xr.Dataset]:
    """Run each part on as many images as it is given."""
    settings, every = experiment.settings, len(experiment.images)
    few = min(settings.few, every)
    shown = {"response": every, "factorial": few, "tolerance": few, "surface": few, "law": min(settings.precise, every)}
    of_chunks = {"response": response, "factorial": factorial, "tolerance": tolerance, "surface": surface, "law": law}
    found = {
        name: in_chunks(of_chunks[name], experiment, shown[name]) if name in shown else whole_network(experiment)
        for name in parts
    }
    for dataset in found.values():
        for name in COORDINATES.keys() & dataset.coords.keys():
            long_name, units = COORDINATES[name]
            dataset[name].attrs = {"long_name": long_name, "units": units}
    return found
