"""A result of an analysis as one tree and one netCDF file, which figures are made from."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import h5py
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.errors import InputError
from dcnbio.version import __version__

__all__ = ["check_result_path", "open_result", "result_tree", "write_result"]

MARK = "dcnbio_analysis"


def is_result(path: Path) -> bool:
    """Say whether a file is a result of dcnbio's."""
    try:
        with h5py.File(path, "r") as file:
            return MARK in file.attrs
    except OSError:
        return False


def result_tree(
    claims: Sequence[Claim], conclusion: str, networks: Iterable[xr.DataTree], *, seed: int, resamples: int
) -> xr.DataTree:
    """Put what is said of networks over the tables of each.

    Parameters
    ----------
    claims : sequence of Claim
        Kept as JSON, since a file's attributes are text and numbers.
    conclusion : str
    networks : iterable of xarray.DataTree
        One per network; they hang below as ``network1`` and so on, since names of networks may hold any character.
    seed, resamples : int
        Of the resampling.

    Returns
    -------
    xarray.DataTree

    Examples
    --------
    >>> result_tree([], "nothing was shown.", [xr.DataTree(), xr.DataTree()], seed=0, resamples=99).groups
    ('/', '/network1', '/network2')
    """
    about = {
        "claims": json.dumps([claim.to_dict() for claim in claims]),
        "conclusion": conclusion,
        "seed": seed,
        "resamples": resamples,
    }
    tree = xr.DataTree(xr.Dataset(attrs=about))
    for number, network in enumerate(networks, 1):
        tree[f"network{number}"] = network
    return tree


def check_result_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Refuse a path that a result cannot be written to, before anything is computed.

    Parameters
    ----------
    path : path
        Where the result shall go; ends in .nc.
    overwrite : bool
        Whether an older result may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If it does not end in .nc, its folder is missing, or something is in the way.

    Examples
    --------
    >>> check_result_path("scales.csv")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: out is scales.csv; results are netCDF files, so choose a name that ends in .nc.
    """
    path = Path(path)
    if path.suffix != ".nc":
        raise InputError(f"out is {path}; results are netCDF files, so choose a name that ends in .nc.")
    if not path.parent.is_dir():
        raise InputError(f"out is {path}, but there is no folder {path.parent}; make it or choose another place.")
    if path.exists() and not overwrite:
        raise InputError(f"out is {path}, which exists already; choose another name or pass overwrite (--overwrite).")
    if path.exists() and not is_result(path):
        raise InputError(f"out is {path}, which is no result of dcnbio's, so it is left alone; choose another name.")
    return path


def write_result(tree: xr.DataTree, path: str | os.PathLike[str], name: str, *, overwrite: bool = False) -> Path:
    """Write a result; beside its place first, so that a reader never sees half a file.

    Parameters
    ----------
    tree : xarray.DataTree
    path : path
        Ends in .nc.
    name : str
        The analysis, for instance "scales".
    overwrite : bool
        Whether an older result may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the name does not end in .nc, a file is in the way, or the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_result(xr.DataTree(xr.Dataset({"x": 1})), f"{folder}/a.nc", "scales")
    ...     int(open_result(path)["x"])
    1
    """
    path = check_result_path(path, overwrite=overwrite)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    marked = tree.copy()
    marked.attrs = {**tree.attrs, MARK: name, "dcnbio_version": __version__}
    try:
        marked.to_netcdf(part, engine="h5netcdf")
        os.replace(part, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}); choose another place.") from error
    finally:
        part.unlink(missing_ok=True)
    return path


def open_result(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a result into memory.

    Parameters
    ----------
    path : path
        A .nc file that `write_result`, or ``dcnbio analyze --out``, wrote.

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    InputError
        If it is no result of dcnbio's.

    Examples
    --------
    >>> open_result("no-such.nc")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: no-such.nc is no result of dcnbio analyze; make one with --out.
    """
    if not Path(path).is_file() or not is_result(Path(path)):
        raise InputError(f"{path} is no result of dcnbio analyze; make one with --out.")
    with xr.open_datatree(path, engine="h5netcdf") as tree:
        loaded: xr.DataTree = tree.load()
        return loaded
