"""Records a network's response to images: the main job."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from tqdm.std import tqdm

from dcnbio.model.network import Network
from dcnbio.probe.batches import Job, run_batches
from dcnbio.probe.class_labels import untrained_classes, with_labels_of
from dcnbio.probe.destination import Destination, silent
from dcnbio.probe.error_estimate import error_sample
from dcnbio.probe.interventions import check_apart, settle
from dcnbio.probe.own_field import refuse_unread
from dcnbio.probe.plan import INTACT, map_shapes, numbers, plan
from dcnbio.probe.precision import moved
from dcnbio.probe.settings import ProbeSettings, settings_of
from dcnbio.probe.sharding import shard_of
from dcnbio.probe.stimuli import Stimuli, as_stimuli, prepared_images
from dcnbio.probe.streaming import counted, open_shared, stream
from dcnbio.recording import (
    assemble,
    check_free_space,
    estimate_bytes,
    gather_provenance,
    is_netcdf_name,
    open_recording,
    write_netcdf,
)

__all__ = ["Destination", "probe", "record"]


def record(net: Network, stimuli: Stimuli, settings: ProbeSettings, to: Destination) -> xr.DataTree:
    """Record a network's response to stimuli; see `probe`."""
    to.check()
    check_apart(settings.patches, to.path)
    ready = moved(net, settings.torch_dtype, settings.device)
    layout = plan(ready, stimuli, settings)
    sizes = map_shapes(ready, (stimuli.images.shape[2], stimuli.images.shape[3]))
    interventions = settle(ready, settings.patches, stimuli.stimulus, sizes)
    names = {"images": stimuli.source, "network": net.source, "threads": torch.get_num_threads()}
    follows = numbers(net, stimuli, settings)
    refuse_unread(follows.get("vector_field", {}), to.joins())
    about = gather_provenance(follows, command=to.command, names=names)
    compared = any(one.maps in INTACT for one in settings.chosen_reductions)
    intact = prepared_images(stimuli, replace(settings, mask=None)) if compared else None
    images = prepared_images(stimuli, settings)
    sample = error_sample(net, settings, interventions, layout.n)
    job = Job(ready, images, stimuli.problems, layout, settings, interventions, intact, sample)
    if to.path is not None and not is_netcdf_name(to.path):
        # what a resumed run has on the disk already is not needed again
        check_free_space(to.path, 0 if to.goes_on and to.path.exists() else estimate_bytes(layout))
        stream(job, about, to, to.path)
        return open_recording(to.path) if to.shard is None else open_shared(to.path)
    if to.path is not None:
        check_free_space(to.path, estimate_bytes(layout))
    tree = assemble(layout, counted(run_batches(job), layout.n, 0, to.progress), about)
    if to.path is None:
        return tree
    for notice in write_netcdf(tree, to.path, overwrite=to.overwrite):
        to.say(notice)
    return open_recording(to.path)


def call_text(options: dict[str, Any]) -> str:
    """Write a call as it was made, for provenance.

    Examples
    --------
    >>> call_text({"times": 3, "blocks": [1]})
    'dcnbio.probe(net, data, times=3, blocks=[1])'
    """
    return f"dcnbio.probe({', '.join(['net', 'data', *(f'{name}={value!r}' for name, value in options.items())])})"


def probe(
    net: Network,
    data: xr.Dataset | NDArray[np.floating[Any]] | torch.Tensor,
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: bool = False,
    shard: str | None = None,
    **settings: Any,
) -> xr.DataTree:
    """Record the trajectories h(t) of a network's blocks, its logits and the solver's work, image by image.

    Parameters
    ----------
    net : Network
        It is left as it was: mode, type, device.
    data : xarray.Dataset, array or Tensor
        From `load_images`, or bare images (n, 3, 32, 32) in [0, 1]. Labels count the network's classes, found by their
        names, where its checkpoint tells them and it was trained on all of the images'.
    out : path, optional
        A .zarr store that is written batch by batch, or a .nc file that is written at the end. Without it the
        recording stays in memory.
    overwrite, resume : bool
        Replace a recording that is there; go on with an unfinished one (Zarr alone).
    progress : bool
        Show a progress bar.
    shard : str, optional
        "i/n": record the i-th of n parts of the batches into the store `out`, which other processes fill too; the last
        of them makes it complete. Until then every reader takes it for unfinished.
    **settings
        Fields of `ProbeSettings`: times, blocks, stepping, batch_size, rtol, atol, method, step_size, max_steps,
        max_evaluations, dtype, device, mask, fill, contrast, channels, window, storage, maps, reductions, patch,
        error_sample.

    Returns
    -------
    xarray.DataTree
        Root: ``logits`` (stimulus, class), ``label``, ``file``. Node ``block1`` and so on: ``h`` (stimulus, time,
        channel, y, x), ``nfe``, ``accepted``, ``rejected``, ``status``, ``reason`` (stimulus), ``step_time`` (stimulus,
        step), the reductions, if any, and with error_sample ``h_error`` (stimulus, time) and ``h_error_status``. With
        `out`, opened from the file.

    Raises
    ------
    InputError
        If a setting or the images are not allowed.
    RecordingError
        If `out` is in the way or cannot be written.

    Notes
    -----
    h holds points on the solution path from the solver's dense output: asking for more times changes neither the
    steps nor h(T). With ``stepping="shared"`` NFE belongs to a batch: never divide it by images. An image whose solve
    fails has NaN from there on, a status and a reason, and one that is no number is left out before the solve; with
    per-image stepping the others are unaffected.

    Examples
    --------
    >>> import dcnbio
    >>> tree = dcnbio.probe(dcnbio.load(), dcnbio.load_images(limit=10), times=3, blocks=[3])
    >>> dict(tree["block3"]["h"].sizes)
    {'stimulus': 10, 'time': 3, 'channel': 128, 'y': 7, 'x': 7}
    """
    chosen = settings_of(settings)
    say = tqdm.write if progress else silent
    path = None if out is None else Path(out)
    part = None if shard is None else shard_of(shard)
    to = Destination(path, overwrite, resume, progress, call_text(settings), say, part)
    to.check()
    if isinstance(data, xr.Dataset) and not untrained_classes(net, data):
        data = with_labels_of(net, data)
    return record(net, as_stimuli(data), chosen, to)
