"""A variable as one .npy file, image by image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from dcnbio.recording.export.spans import stimulus_spans

__all__ = ["write_npy"]


def write_npy(array: xr.DataArray, path: Path) -> None:
    """Write the values alone, dimensions in the order of the recording; memory is that of a few images.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npy(xr.DataArray(np.arange(3.0), dims="stimulus"), Path(folder, "a.npy"))
    ...     np.load(Path(folder, "a.npy")).tolist()
    [0.0, 1.0, 2.0]
    """
    if array.dtype == object:  # text, as fixed-length letters, which need no pickle to be read
        np.save(path, np.asarray(array.values).astype(np.str_), allow_pickle=False)
        return
    out = np.lib.format.open_memmap(path, mode="w+", dtype=array.dtype, shape=array.shape)
    for span in stimulus_spans(array):
        out[span] = array[span].values
    out.flush()
