"""Writes a variable in the form that a file's name asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import xarray as xr

from dcnbio.errors import InputError
from dcnbio.recording.export.mat import write_mat
from dcnbio.recording.export.new_file import new_file
from dcnbio.recording.export.npy import write_npy
from dcnbio.recording.export.tidy_csv import table_header, write_csv
from dcnbio.recording.size import check_free_space

__all__ = ["export_bytes", "export_variable"]

FORMS: dict[str, Callable[[xr.DataArray, Path], None]] = {".mat": write_mat, ".npy": write_npy, ".csv": write_csv}
CELL = 9  # bytes of a cell of a table, comma included, on average over h of dcn-ode


def form_of(path: Path) -> Callable[[xr.DataArray, Path], None]:
    """Find who writes a file of this name."""
    if path.suffix.lower() not in FORMS:
        raise InputError(
            f"out is {path}; a variable is exported to {', '.join(FORMS)}, so end the name in one of them."
        )
    return FORMS[path.suffix.lower()]


def export_bytes(array: xr.DataArray, path: str | os.PathLike[str]) -> int:
    """Estimate the size of the file, before it is written.

    Parameters
    ----------
    array : xarray.DataArray
        Of any dimensions, as `export_variable` takes it.
    path : path
        Its ending chooses the form.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    InputError
        If the ending is none of .mat, .npy and .csv.

    Examples
    --------
    >>> import numpy as np
    >>> export_bytes(xr.DataArray(np.zeros((10, 10)), dims=("stimulus", "time"), name="h"), "a.npy")
    928
    """
    if form_of(Path(path)) is write_csv:
        return int(array.size) * CELL * len(table_header(array))
    return int(array.nbytes) + 128


def export_variable(array: xr.DataArray, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Export a variable of a recording.

    Parameters
    ----------
    array : xarray.DataArray
        From `chosen_variable`, or ``tree["block1"]["h"]``.
    path : path
        Ends in .mat (values and coordinates, for MATLAB), .npy (values alone) or .csv (one value a row).
    overwrite : bool
        Replace a file that is there.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the name has another ending.
    RecordingError
        If a file is in the way, too large for its form, or the disk refuses; what was there is then untouched.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> h = xr.DataArray(np.zeros((2, 3)), dims=("stimulus", "time"), name="h")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_variable(h, folder + "/h.npy").name
    'h.npy'
    """
    path = Path(path)
    write = form_of(path)
    check_free_space(path, export_bytes(array, path))
    with new_file(path, overwrite) as part:
        write(array, part)
    return path
