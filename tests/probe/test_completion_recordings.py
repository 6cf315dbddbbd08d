"""Completion from stored recordings: the numbers of the experiment, chunk by chunk, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.analysis.completion.index import completion_index
from dcnbio.analysis.completion.paper_measure import difference_fall
from dcnbio.analysis.completion.recordings import completion_of_recordings
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.errors import InputError
from dcnbio.probe.completion import CompletionSettings, completion_experiment

FEW = Resampler(0, 99)
SHARED = ["distance", "between", "difference", "amplitude"]


@pytest.fixture(scope="module")
def net() -> Any:
    return dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4, integration_time=0.5)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return np.random.default_rng(5).random((8, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def trees(net: Any, images: np.ndarray) -> list[xr.DataTree]:
    return [dcnbio.probe(net, images, times=3, mask=side) for side in (None, 14)]


def test_recordings_give_the_numbers_of_the_experiment(net: Any, images: np.ndarray, trees: Any) -> None:
    found = completion_of_recordings(*trees, chunk=8)
    settings = CompletionSettings(masks=(14,), controls=False, times=3, batch_size=8)
    run = completion_experiment(net, images, settings)["flow"]
    for name in SHARED:
        expected = run[name].sel(condition=["intact", "mask 14"])
        expected = expected.sel(region=["whole"]) if "region" in expected.dims else expected
        np.testing.assert_allclose(found[name], expected, rtol=1e-3, atol=1e-3)
    for block in (1, 2):
        index = completion_index(found, ["mask 14"], block, FEW)
        assert index.value == pytest.approx(completion_index(run, ["mask 14"], block, FEW).value, abs=1e-3)
        assert difference_fall(found, ["mask 14"], block, FEW).fall.value > 0


def test_a_stored_recording_is_read_chunk_by_chunk(net: Any, images: np.ndarray, trees: Any, tmp_path: Any) -> None:
    pytest.importorskip("dask")
    lazy = []
    for number, side in enumerate((None, 14)):
        dcnbio.probe(net, images, times=3, mask=side, out=tmp_path / f"{number}.zarr", batch_size=4)
        lazy.append(dcnbio.open(tmp_path / f"{number}.zarr").chunk({"stimulus": 4}))
    found, expected = completion_of_recordings(*lazy, chunk=4), completion_of_recordings(*trees, chunk=4)
    for name in SHARED:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-4)


def test_recordings_that_do_not_belong_together_are_refused(net: Any, images: np.ndarray, trees: Any) -> None:
    intact, masked = trees
    with pytest.raises(InputError, match="recordings have the masks 14 and None"):
        completion_of_recordings(masked, intact)
    other = dcnbio.build("dcn-ode", seed=1, widths=(8, 16), norm_groups=4, integration_time=0.5)
    with pytest.raises(InputError, match="recordings differ in weights"):
        completion_of_recordings(intact, dcnbio.probe(other, images, times=3, mask=14))
    with pytest.raises(InputError, match="recordings differ in images_id"):
        completion_of_recordings(intact, dcnbio.probe(net, images[:4], times=3, mask=14))
    with pytest.raises(InputError, match="other times or parts of block1"):
        completion_of_recordings(intact, dcnbio.probe(net, images, times=2, mask=14))
    with pytest.raises(InputError, match="is no recording"):
        completion_of_recordings(xr.DataTree(), masked)
    with pytest.raises(InputError, match="chunk is 1"):
        completion_of_recordings(intact, masked, chunk=1)


def test_parts_of_maps_are_refused(net: Any, images: np.ndarray) -> None:
    parts = [dcnbio.probe(net, images, times=2, mask=side, channels=[0, 1]) for side in (None, 14)]
    with pytest.raises(InputError, match="hold 2 of block1's 8 channels"):
        completion_of_recordings(*parts)
