"""A variable as a MATLAB file, with its coordinates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import xarray as xr

from dcnbio.errors import RecordingError

__all__ = ["write_mat"]

MOST_BYTES = 2**31 - 1  # of one variable, in the version of the format that scipy writes


def write_mat(array: xr.DataArray, path: Path) -> None:
    """Write values, coordinates, dimension names and units as variables of MATLAB (version 5).

    Dimensions keep their order, so ``size(h)`` is stimulus, time, channel, y, x. Indices stay those of the recording,
    which count from 0.

    Raises
    ------
    RecordingError
        If the variable has 2 GiB or more, which the format cannot hold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mat(xr.DataArray(np.zeros((2, 3)), dims=("stimulus", "time"), name="h"), Path(folder, "a.mat"))
    ...     scipy.io.loadmat(Path(folder, "a.mat"))["h"].shape
    (2, 3)
    """
    if array.nbytes > MOST_BYTES:
        raise RecordingError(
            f"{array.name} has {array.nbytes} bytes, and a .mat file holds less than 2 GiB a variable; take fewer "
            "channels (--channels), or .npy"
        )
    values: dict[str, Any] = {str(array.name): plain(array)}
    for name, coordinate in array.coords.items():
        values[f"coord_{name}"] = plain(coordinate)
    values["dims"] = np.array([str(dim) for dim in array.dims], dtype=object)
    values["attributes"] = json.dumps({str(k): str(v) for k, v in array.attrs.items()}, ensure_ascii=False)
    scipy.io.savemat(path, values, do_compression=False, oned_as="column", long_field_names=True)


def plain(array: xr.DataArray) -> Any:
    """Give values as MATLAB has them: it has no half precision."""
    values = array.values
    return values.astype(np.float32) if values.dtype == np.float16 else values
