"""Opening a recording, and refusing one that is unfinished or damaged."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording.assemble import build_tree
from dcnbio.recording.guarded import GuardedNetcdf, GuardedZarr
from dcnbio.recording.journal import Journal
from dcnbio.recording.publish import is_announced, read_manifest
from dcnbio.recording.record import merge
from dcnbio.recording.stamps import is_whole
from dcnbio.recording.target import root_attributes_of, starts_as_hdf5, state_of

__all__ = ["Chunks", "open_recording"]

Chunks = int | str | Mapping[Any, Any] | None


def open_recording(
    path: str | os.PathLike[str], *, partial: bool = False, chunks: Chunks = None, verify: bool = False
) -> xr.DataTree:
    """Open a recording; values are read when they are used.

    Parameters
    ----------
    path : path
        A Zarr store or a netCDF file that dcnbio wrote.
    partial : bool
        Open an unfinished recording too, with the stimuli that are finished and no others; its attributes then say
        ``complete`` 0, ``done`` and ``total``.
    chunks : int, "auto" or mapping, optional
        As in `xarray.open_dataset`; with it variables are dask arrays, ``{}`` for the chunks of the store.
    verify : bool
        Read every file of a Zarr store and compare it with what was recorded, by checksums that also tell a file of
        another recording; otherwise sizes are compared.

    Returns
    -------
    xarray.DataTree
        Root with ``logits`` (stimulus, class); one node per block with ``h`` (stimulus, time, channel, y, x), the
        solver's counts (stimulus) and ``step_time`` (stimulus, step).

    Raises
    ------
    RecordingError
        When there is no recording of dcnbio's, when it is unfinished, when a file of it is missing or cut, so that
        fill values never pass as data, and when its provenance is another. Reading values raises it later, naming the
        variable, where their bytes are not those that were recorded or the store was moved.

    Examples
    --------
    >>> open_recording("no-such-run.zarr")
    Traceback (most recent call last):
    ...
    dcnbio.errors.RecordingError: no-such-run.zarr does not exist; check the path
    """
    if chunks is not None and importlib.util.find_spec("dask") is None:
        raise RecordingError("chunks needs dask, which is not installed; install dcnbio[dask] or leave chunks out")
    path = Path(path)
    state = state_of(path)
    if state == "unfinished":
        try:
            return _open_unfinished(path, partial, chunks, verify)
        except (OSError, ValueError, KeyError, TypeError) as error:
            # its journal goes when it becomes complete, which may have happened just now
            state = state_of(path)
            if state != "complete":
                if isinstance(error, RecordingError | OSError):
                    raise
                raise _damaged(path, error) from error
    if state != "complete":
        raise RecordingError(_refusal(path))
    try:
        if path.is_file():
            return _open_netcdf(path, chunks)
        return _open_store(path, chunks, verify)
    except RecordingError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> RecordingError:
    return RecordingError(f"{path} is damaged and cannot be opened ({error}); record anew with --overwrite")


def _refusal(path: Path) -> str:
    if not os.path.lexists(path):
        return f"{path} does not exist; check the path"
    if path.is_dir() and not any(path.iterdir()):
        return f"{path} is an empty folder and no recording; check the path"
    other = "give a .zarr store or .nc file that dcnbio probe wrote"
    if path.is_file() and starts_as_hdf5(path):
        return f"{path} is no recording of dcnbio's, or one that was cut or damaged; copy it again, or {other}"
    return f"{path} is no recording of dcnbio's; {other}"


def _check_files(path: Path, verify: bool) -> None:
    _, files = read_manifest(path)
    if not is_announced(path, root_attributes_of(path) or {}):
        raise RecordingError(
            f"{path} is damaged: its provenance is not the one it was recorded with; copy the whole store again or "
            "record anew with --overwrite"
        )
    bad = [name for name, stamp in files.items() if not is_whole(path / name, stamp, verify)]
    if bad:
        what = "is not as it was recorded" if (path / bad[0]).exists() else "is missing"
        raise RecordingError(
            f"{path} is damaged: {bad[0]} {what}, {len(bad)} of its {len(files)} files in all; copy the whole store "
            f"again or record anew with --overwrite"
        )


def _portable(dataset: xr.Dataset, path: Path) -> xr.Dataset:
    for name, variable in dataset.variables.items():
        if isinstance(variable.dtype, np.dtypes.StringDType | np.dtypes.StrDType):
            # object strings, as in a recording in memory, which every format can save again
            text = np.asarray(variable.values).astype(object)
            dataset = dataset.assign({name: (variable.dims, text, variable.attrs)})
        # without our shards and chunks, which a save with other chunks would break; with the place it is read from
        kept = variable.encoding.get("preferred_chunks")
        chunked = {} if kept is None else {"preferred_chunks": kept}
        dataset.variables[name].encoding = chunked | {"source": os.path.abspath(path)}
    return dataset


def _cut_anew(dataset: xr.Dataset, chunks: str) -> xr.Dataset:
    numbers = {name: array.variable for name, array in dataset.data_vars.items() if array.dtype.kind != "O"}
    return dataset.assign({name: variable.chunk(chunks) for name, variable in numbers.items()})


def _open_store(path: Path, chunks: Chunks, verify: bool) -> xr.DataTree:
    _check_files(path, verify)
    # dask cannot tell the size of texts, and so finds no chunks for them: numbers alone are cut anew
    anew = chunks if isinstance(chunks, str) else None
    tree = xr.open_datatree(path, engine=GuardedZarr, consolidated=True, chunks={} if anew else chunks)
    nodes = {node.path: _portable(node.to_dataset(inherit=False), path) for node in tree.subtree}
    if anew:
        nodes = {name: _cut_anew(dataset, anew) for name, dataset in nodes.items()}
    return xr.DataTree.from_dict(nodes)


def _open_netcdf(path: Path, chunks: Chunks) -> xr.DataTree:
    tree = xr.open_datatree(path, engine=GuardedNetcdf, chunks=chunks)
    if int(tree.attrs.get("complete", 0)) != 1:
        tree.close()
        raise RecordingError(f"{path} does not say that it is complete; record anew with --overwrite")
    found = xr.DataTree.from_dict({node.path: _portable(node.to_dataset(inherit=False), path) for node in tree.subtree})
    found.set_close(tree.close)
    return found


def _open_unfinished(path: Path, partial: bool, chunks: Chunks, verify: bool) -> xr.DataTree:
    journal = Journal(path)
    layout = journal.header().layout
    finished = journal.finished([] if verify else None)
    spans = [layout.batch(index) for index in sorted(finished)]
    done = sum(span.stop - span.start for span in spans)
    if not partial:
        raise RecordingError(
            f"{path} is unfinished: {done} of {layout.n} images; go on with --resume or open with partial=True"
        )
    if not done:
        raise RecordingError(
            f"{path} is unfinished and none of its {layout.n} images is there yet; go on with --resume"
        )
    positions = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    # a slice where that does: picking images by a list costs Zarr many times the memory
    contiguous = positions[-1] - positions[0] + 1 == done
    picked = slice(int(positions[0]), int(positions[-1]) + 1) if contiguous else positions
    h = {}
    for block in layout.blocks:
        if block.store_h:
            dataset = xr.open_dataset(path / block.name, engine=GuardedZarr, consolidated=False, chunks=chunks)
            h[block.name] = dataset["h"].variable.isel(stimulus=picked)
            h[block.name].encoding = {"source": os.path.abspath(path)}
    merged = merge([finished[index][0] for index in sorted(finished)])
    return build_tree(layout, positions, merged, h, journal.header().provenance)
