"""Analyses of stored recordings on a dask.distributed cluster: the same calls, the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.analysis.completion import completion_of_recordings
from dcnbio.recording.reductions import REDUCTIONS, reduce_maps

distributed = pytest.importorskip("distributed", reason="the cluster needs dask's package distributed")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: Any) -> list[Any]:
    """Record eight images, intact and masked."""
    net = dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4, integration_time=0.5)
    images = np.random.default_rng(5).random((8, 3, 32, 32), dtype=np.float32)
    paths = [tmp_path_factory.mktemp("runs") / name for name in ("intact.zarr", "masked.zarr")]
    for path, side in zip(paths, (None, 14), strict=True):
        dcnbio.probe(net, images, times=3, mask=side, out=path, batch_size=4)
    return paths


@pytest.fixture
def scheduler() -> Iterator[Any]:
    """Start a cluster of two workers in this process, and send it whatever dask computes."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield cluster.scheduler


def test_completion_is_the_same_on_a_cluster(stores: Any, scheduler: Any) -> None:
    plain = completion_of_recordings(*map(dcnbio.open, stores), chunk=4)
    assert scheduler.transition_counter == 0
    lazy = completion_of_recordings(*(dcnbio.open(path, chunks={}) for path in stores), chunk=4)
    assert scheduler.transition_counter > 0  # the cluster it was that read the maps
    xr.testing.assert_identical(lazy, plain)


@pytest.mark.parametrize("name", ["h_norm", "channel_mean", "feature_variance"])
def test_reductions_of_stored_maps_are_the_same_on_a_cluster(stores: Any, scheduler: Any, name: str) -> None:
    reduction = REDUCTIONS[name]
    lazy = dcnbio.open(stores[0], chunks={})["block2"]["h"]
    found = xr.apply_ufunc(
        lambda maps: reduce_maps(reduction, maps),
        lazy.chunk({"stimulus": 4}),
        input_core_dims=[["time", "channel", "y", "x"]],
        output_core_dims=[["time", *reduction.dims]],
        dask="parallelized",
        output_dtypes=[np.float64],
    ).compute()
    assert scheduler.transition_counter > 0
    expected = reduce_maps(reduction, dcnbio.open(stores[0])["block2"]["h"].values)
    np.testing.assert_array_equal(found.values, expected)
