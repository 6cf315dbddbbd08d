"""Records a network's response to images: the main job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from tqdm.std import tqdm

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.probe.batches import run_batches
from dcnbio.probe.plan import numbers, plan
from dcnbio.probe.precision import moved
from dcnbio.probe.settings import ProbeSettings
from dcnbio.probe.stimuli import as_stimuli, prepared_images
from dcnbio.recording import (
    Batch,
    RecordingLayout,
    RecordingWriter,
    assemble,
    check_free_space,
    check_target,
    estimate_bytes,
    gather_provenance,
    is_netcdf_name,
    open_recording,
    write_netcdf,
)

__all__ = ["probe"]


def stream(
    path: Path, layout: RecordingLayout, about: dict[str, Any], batches: Any, mode: dict[str, bool], bar: tqdm[Any]
) -> None:
    """Write batches to a Zarr store as they are computed; `batches` is called with the indices that are done."""
    with RecordingWriter(path, layout, about, **mode) as writer:
        bar.update(writer.images_done)
        for batch in batches(frozenset(writer.done)):
            writer.write(batch)
            bar.update(len(batch.logits))
        writer.finish()


def in_memory(layout: RecordingLayout, about: dict[str, Any], batches: Any, bar: tqdm[Any]) -> xr.DataTree:
    """Keep all batches in memory."""
    kept: list[Batch] = []
    for batch in batches(frozenset()):
        kept.append(batch)
        bar.update(len(batch.logits))
    return assemble(layout, kept, about)


def probe(
    net: Network,
    data: xr.Dataset | NDArray[np.floating[Any]] | torch.Tensor,
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: bool = False,
    **settings: Any,
) -> xr.DataTree:
    """Record the trajectories h(t) of a network's blocks, its logits and the solver's work, image by image.

    Parameters
    ----------
    net : Network
        It is left as it was: mode, type, device.
    data : xarray.Dataset, array or Tensor
        From `load_images`, or bare images (n, 3, 32, 32) in [0, 1].
    out : path, optional
        A .zarr store that is written batch by batch, or a .nc file that is written at the end. Without it the
        recording stays in memory.
    overwrite, resume : bool
        Replace a recording that is there; go on with an unfinished one (Zarr alone).
    progress : bool
        Show a progress bar.
    **settings
        Fields of `ProbeSettings`: times, blocks, stepping, batch_size, rtol, atol, method, step_size, max_steps,
        max_evaluations, dtype, device, mask, fill, contrast.

    Returns
    -------
    xarray.DataTree
        Root: ``logits`` (stimulus, class), ``label``, ``file``. Node ``block1`` and so on: ``h`` (stimulus, time,
        channel, y, x), ``nfe``, ``accepted``, ``rejected``, ``status`` (stimulus), ``step_time`` (stimulus, step).
        With `out`, opened from the file.

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
    fails has NaN from there on and a status; the others are unaffected with per-image stepping.

    Examples
    --------
    >>> import dcnbio
    >>> tree = dcnbio.probe(dcnbio.load(), dcnbio.load_images(limit=10), times=3, blocks=[3])
    >>> dict(tree["block3"]["h"].sizes)
    {'stimulus': 10, 'time': 3, 'channel': 128, 'y': 7, 'x': 7}
    """
    chosen = probe_settings(settings)
    path = None if out is None else Path(out)
    if path is not None:
        check_target(path, overwrite=overwrite, resume=resume)
    elif resume or overwrite:
        raise InputError("overwrite and resume need a file; give out=.")
    stimuli = as_stimuli(data)
    ready = moved(net, chosen.torch_dtype, chosen.device)
    layout = plan(ready, stimuli, chosen)
    names = {"images": stimuli.source, "network": net.source, "threads": torch.get_num_threads()}
    about = gather_provenance(numbers(ready, stimuli, chosen), names=names)
    images = prepared_images(stimuli, chosen)

    def batches(done: frozenset[int]) -> Any:
        return run_batches(ready, images, layout, chosen, done)

    with tqdm(total=layout.n, unit="image", desc="probe", disable=not progress, leave=False) as bar:
        if path is None:
            return in_memory(layout, about, batches, bar)
        check_free_space(path, estimate_bytes(layout))
        if not is_netcdf_name(path):
            stream(path, layout, about, batches, {"overwrite": overwrite, "resume": resume}, bar)
            return open_recording(path)
        write_netcdf(in_memory(layout, about, batches, bar), path, overwrite=overwrite)
        return open_recording(path)


def probe_settings(settings: dict[str, Any]) -> ProbeSettings:
    """Make settings of keywords; an unknown one is named together with those that exist."""
    known = ProbeSettings.__dataclass_fields__
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise InputError(f"{', '.join(unknown)} is no setting of a probe; known are {', '.join(known)}.")
    return ProbeSettings(**settings)
