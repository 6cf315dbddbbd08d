"""A node is in memory, whole, before HDF5 is written: nothing of Zarr is read while the lock of HDF5 is held.

Zarr reads on a thread of its own. Where that thread collects HDF5 objects which Python no longer needs, it waits for
the lock, and the write that holds the lock waits for Zarr (hdmf-zarr 362, seen in ten of ten processes).
"""

from __future__ import annotations

import xarray as xr

from dcnbio.recording import open_recording
from dcnbio.recording.netcdf import write_netcdf


def test_the_store_is_not_read_while_hdf5_is_written(run, write, tmp_path, monkeypatch):
    store, elsewhere = tmp_path / "run.zarr", tmp_path / "elsewhere"
    write(store, run.layout())
    before = open_recording(store).load()
    written = []
    to_netcdf = xr.Dataset.to_netcdf

    def without_the_store(dataset, *arguments, **options):
        written.append(options["group"])
        store.rename(elsewhere)
        try:
            return to_netcdf(dataset, *arguments, **options)
        finally:
            elsewhere.rename(store)

    monkeypatch.setattr(xr.Dataset, "to_netcdf", without_the_store)
    write_netcdf(open_recording(store), tmp_path / "run.nc")
    assert written == ["/", "/block1", "/block2"]
    after = open_recording(tmp_path / "run.nc").load()
    for name in ("block1", "block2"):
        xr.testing.assert_equal(after[name].to_dataset(), before[name].to_dataset())
