"""Reads a recording's arrays and names file, variable and fix where bytes are not those that were recorded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint, H5netcdfBackendEntrypoint, ZarrBackendEntrypoint
from xarray.core.indexing import ExplicitIndexer, LazilyIndexedArray, apply_indexer

from dcnbio.errors import RecordingError

__all__ = ["FINISHED", "UNFINISHED", "GuardedArray", "GuardedNetcdf", "GuardedZarr", "Origin"]

FINISHED = "copy the whole store again or record anew with --overwrite (dcnbio info {0} --verify names the files)"
UNFINISHED = "go on with --resume, which records damaged batches again (dcnbio info {0} --verify names the files)"
ONE_FILE = "copy the file again or record anew with --overwrite"


@dataclass(frozen=True)
class Origin:
    """Where an array is stored.

    Attributes
    ----------
    store : str
        Path of the store or file, as the user gave it.
    variable : str
        Its group and name, such as ``block1/h``.
    remedy : str
        What to do about damage; ``{0}`` stands for the store.
    folder : str, optional
        Of the array, in a store; absolute, since Zarr reads there whatever the working directory has become.
    """

    store: str
    variable: str
    remedy: str
    folder: str | None = None

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Turn what goes wrong in reading into one sentence that names store, variable and fix.

        Raises
        ------
        RecordingError
            Where a chunk cannot be decoded, or the array's folder has gone since it was opened: Zarr would then give
            fill values, which pass as data.

        Examples
        --------
        >>> with Origin("run.zarr", "block1/h", FINISHED, "/no/such/run.zarr/block1/h").named():  # doctest: +ELLIPSIS
        ...     pass
        Traceback (most recent call last):
        ...
        dcnbio.errors.RecordingError: run.zarr no longer holds block1/h, which is read when it is used; put ...
        """
        if self.folder is not None and not os.path.isdir(self.folder):
            raise RecordingError(
                f"{self.store} no longer holds {self.variable}, which is read when it is used; put the store back "
                "where it was, or open it again where it is now"
            )
        try:
            yield
        except (ValueError, RuntimeError, OSError) as error:
            # what the system refuses has a number, and is no damage
            if isinstance(error, RecordingError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            said = str(error)
            wrong = "checksum" in said or "filter returned failure" in said  # of Zarr, and of HDF5
            reason = "a chunk of it does not match its checksum" if wrong else said.partition("\n")[0]
            raise RecordingError(
                f"{self.store} is damaged: {self.variable} cannot be read ({reason}); {self.remedy.format(self.store)}"
            ) from error


class GuardedArray(BackendArray):
    """An array that is read when it is used, and says where it comes from when that fails.

    Parameters
    ----------
    array : lazily indexed array of xarray's
    origin : Origin
    """

    __slots__ = ("dtype", "lazy", "origin", "shape")

    def __init__(self, array: Any, origin: Origin) -> None:
        self.lazy = array
        self.origin = origin
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: ExplicitIndexer) -> Any:
        """Read a part."""
        with self.origin.named():
            return apply_indexer(self.lazy, key).get_duck_array()

    async def async_getitem(self, key: ExplicitIndexer) -> Any:
        """Read a part while other parts are read."""
        with self.origin.named():
            return await apply_indexer(self.lazy, key).async_get_duck_array()


class GuardedZarr(BackendEntrypoint):
    """xarray's way to open Zarr, with every array guarded; given to it as ``engine``, so that dask comes after it.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.recording.small_arrays import write_node
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_node(Path(folder), xr.Dataset({"nfe": ("stimulus", [14, 20])}))
    ...     xr.open_datatree(folder, engine=GuardedZarr, consolidated=False)["nfe"].values.tolist()
    [14, 20]
    """

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        consolidated: bool | None = None,
    ) -> xr.Dataset:
        """Open one group of an unfinished store by the path of its folder."""
        path = Path(filename_or_obj)
        # Zarr knows no path of another type than text
        found = ZarrBackendEntrypoint().open_dataset(
            os.fspath(path), drop_variables=drop_variables, consolidated=consolidated
        )
        guard(found.variables, str(path.parent), f"{path.name}/", UNFINISHED)
        return found

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        consolidated: bool | None = None,
    ) -> xr.DataTree:
        """Open a finished store."""
        tree = ZarrBackendEntrypoint().open_datatree(
            os.fspath(filename_or_obj), drop_variables=drop_variables, consolidated=consolidated
        )
        for node in tree.subtree:
            group = f"{node.path}/".lstrip("/")
            guard(node.variables, str(filename_or_obj), group, FINISHED)
        return tree


class GuardedNetcdf(BackendEntrypoint):
    """xarray's way to open netCDF, with every array guarded; given to it as ``engine``."""

    def open_datatree(self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None) -> xr.DataTree:
        """Open a file."""
        tree = H5netcdfBackendEntrypoint().open_datatree(os.fspath(filename_or_obj), drop_variables=drop_variables)
        for node in tree.subtree:
            guard(node.variables, str(filename_or_obj), f"{node.path}/".lstrip("/"), ONE_FILE)
        return tree


def guard(variables: Mapping[Hashable, xr.Variable], path: str, group: str, remedy: str) -> None:
    """Guard every array that is not in memory yet."""
    for name, variable in variables.items():
        if not variable._in_memory:
            place = f"{group}{name}"
            folder = None if remedy is ONE_FILE else os.path.join(os.path.abspath(path), place)
            variable.data = LazilyIndexedArray(GuardedArray(variable._data, Origin(path, place, remedy, folder)))
