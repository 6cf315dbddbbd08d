from __future__ import annotations

import json
import warnings

import hypothesis
import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import strategies as st

from dcnbio.errors import RecordingError
from dcnbio.recording import BlockLayout, RecordingWriter, assemble, describe, open_recording, write_netcdf


def assert_same(found: xr.DataTree, expected: xr.DataTree) -> None:
    xr.testing.assert_identical(found.load(), expected)
    for node in expected.subtree:
        for name, variable in node.to_dataset(inherit=False).variables.items():
            assert found[node.path].variables[name].dtype == variable.dtype, (node.path, name)


@pytest.mark.parametrize("nfe_per", ["image", "batch"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_memory_and_store_hold_the_same(run, write, tmp_path, dtype, nfe_per):
    plan = run.layout(dtype=dtype, nfe_per=nfe_per)
    expected = assemble(plan, run.batches(plan, failed=(2, 9)), run.PROVENANCE)
    write(tmp_path / "run.zarr", plan, failed=(2, 9))
    assert_same(open_recording(tmp_path / "run.zarr"), expected)
    assert_same(open_recording(tmp_path / "run.zarr", verify=True), expected)


def test_what_was_given_is_what_is_found(run):
    plan = run.layout(nfe_per="batch")
    given = run.batches(plan, failed=(5,))
    tree = assemble(plan, iter(given), run.PROVENANCE)
    np.testing.assert_array_equal(tree["stimulus"], plan.stimulus)
    np.testing.assert_array_equal(tree["batch"], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    assert tree["file"].values.tolist() == list(plan.files)
    assert tree["logits"].sel({"class": "dög"}).dims == ("stimulus",)
    block = tree["block2"]
    np.testing.assert_array_equal(
        block["h"].sel(channel=5), np.concatenate([b.blocks["block2"].h[:, :, 2] for b in given])
    )
    np.testing.assert_array_equal(block["y"], [3, 4])
    np.testing.assert_array_equal(block["x"], [4, 5])
    np.testing.assert_array_equal(block["nfe"], np.concatenate([b.blocks["block2"].nfe for b in given]))
    assert np.isnan(block["h"].sel(stimulus=plan.stimulus[5])).all()
    assert block["reason"].values[5] == "non-finite right-hand side, né"
    assert json.loads(block["status"].attrs["codes"])["non_finite"] == block["status"].values[5]
    row = block["step_time"].values[4]
    np.testing.assert_array_equal(row[~np.isnan(row)], given[1].blocks["block2"].step_times[0])
    assert block.attrs["nfe_per"] == "batch"
    assert "batch" not in assemble(run.layout(), run.batches(run.layout()), {}).variables


def test_every_variable_says_what_it_is_and_in_which_unit(run):
    tree = assemble(run.layout(nfe_per="batch"), run.batches(run.layout()), run.PROVENANCE)
    for node in tree.subtree:
        for name, variable in node.to_dataset(inherit=False).variables.items():
            assert variable.attrs["long_name"], name
            assert variable.attrs["units"] in ("1", "pixels", "solver time"), name
    assert tree.attrs["complete"] == 1
    assert json.loads(tree.attrs["provenance"]) == run.PROVENANCE


def test_xarray_alone_opens_a_finished_store_without_a_warning(run, write, tmp_path):
    plan = run.layout()
    write(tmp_path / "run.zarr", plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = xr.open_datatree(tmp_path / "run.zarr", engine="zarr")
        unconsolidated = xr.open_datatree(tmp_path / "run.zarr", engine="zarr", consolidated=False)
        ours = open_recording(tmp_path / "run.zarr")
    for tree in (raw, unconsolidated):
        xr.testing.assert_identical(tree, ours)
        assert str(tree["file"].values[3]) == plan.files[3]


def test_zarr_alone_reads_h(run, write, tmp_path):
    plan = run.layout()
    write(tmp_path / "run.zarr", plan)
    array = zarr.open_group(tmp_path / "run.zarr", mode="r")["block1/h"]
    np.testing.assert_array_equal(array[:], np.concatenate([b.blocks["block1"].h for b in run.batches(plan)]))
    assert np.isnan(array.fill_value)


def test_h_is_read_only_when_used_and_dask_sees_the_chunks(run, write, tmp_path):
    plan = run.layout()
    write(tmp_path / "run.zarr", plan)
    lazy = open_recording(tmp_path / "run.zarr")["block1"]
    assert not lazy.variables["h"]._in_memory
    chunked = open_recording(tmp_path / "run.zarr", chunks={})["block1"]["h"]
    assert chunked.chunks[0] == (4, 4, 2)
    np.testing.assert_array_equal(chunked.max("stimulus").compute(), lazy["h"].max("stimulus"))


@pytest.mark.filterwarnings("ignore:variable None has data in the form of a dask array with dtype=object")
def test_saving_again_with_other_chunks_loses_nothing(run, write, tmp_path):
    plan = run.layout(n=20, batch_size=10)
    write(tmp_path / "run.zarr", plan)
    tree = open_recording(tmp_path / "run.zarr", chunks={})
    tree.chunk(stimulus=7).to_zarr(tmp_path / "again.zarr", zarr_format=3, consolidated=False)
    again = xr.open_datatree(tmp_path / "again.zarr", engine="zarr", consolidated=False)
    xr.testing.assert_equal(again.load(), tree.load())


def test_dask_is_asked_for_by_name(run, write, tmp_path, monkeypatch):
    write(tmp_path / "run.zarr", run.layout())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RecordingError, match=r"chunks needs dask, which is not installed; install dcnbio\[dask\]"):
        open_recording(tmp_path / "run.zarr", chunks={})


def test_a_block_may_keep_its_counts_alone(run, write, tmp_path):
    plan = run.layout(second_h=False)
    write(tmp_path / "run.zarr", plan)
    tree = open_recording(tmp_path / "run.zarr")
    assert "h" not in tree["block2"].variables
    assert set(tree["block2"].to_dataset(inherit=False).coords) == {"time"}
    assert_same(tree, assemble(plan, run.batches(plan), run.PROVENANCE))
    assert describe(tmp_path / "run.zarr")["blocks"]["block2"]["shape"] is None


def test_a_recording_may_have_no_block(run, write, tmp_path):
    plan = run.layout(blocks=[])
    write(tmp_path / "run.zarr", plan)
    assert_same(open_recording(tmp_path / "run.zarr"), assemble(plan, run.batches(plan), run.PROVENANCE))


def test_a_block_without_steps_has_no_step_times(run):
    plan = run.layout(blocks=[BlockLayout("block1", [0.0, 1.0], (1, 1, 1))])
    batches = run.batches(plan)
    for batch in batches:
        batch.blocks["block1"].step_times[:] = [[]] * len(batch.logits)
    tree = assemble(plan, batches, {})
    assert tree["block1"]["step_time"].shape == (10, 1)
    assert tree["block1"]["step_time"].isnull().all()


block_layouts = st.builds(
    lambda number, times, shape, dtype, store_h: BlockLayout(
        f"block{number}", np.cumsum(times), shape, dtype=dtype, store_h=store_h
    ),
    st.just(1),
    st.lists(st.floats(1e-3, 10), min_size=1, max_size=4),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.sampled_from(["float16", "float32", "float64"]),
    st.booleans(),
)


@hypothesis.settings(
    max_examples=15, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(
    block=block_layouts,
    n=st.integers(1, 23),
    batch_size=st.integers(1, 30),
    most=st.sampled_from([64_000_000, 100, 1]),
    failed=st.sets(st.integers(0, 22)),
    data=st.data(),
)
def test_any_layout_comes_back_as_it_was_written(run, tmp_path_factory, block, n, batch_size, most, failed, data):
    plan = run.layout(n=n, batch_size=batch_size, blocks=[block])
    path = tmp_path_factory.mktemp("any") / "run.zarr"
    order = data.draw(st.permutations(range(plan.batches)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dcnbio.recording.shards.MOST_BYTES", most)
        patch.setattr("dcnbio.recording.shards.TARGET_BYTES", most)
        with RecordingWriter(path, plan, run.PROVENANCE) as writer:
            for index in order:
                writer.write(run.batch(plan, index, tuple(failed)))
            writer.finish()
    expected = assemble(plan, run.batches(plan, tuple(failed)), run.PROVENANCE)
    assert_same(open_recording(path), expected)


def test_netcdf_holds_the_same(run, tmp_path):
    plan = run.layout()
    tree = assemble(plan, run.batches(plan, failed=(1,)), run.PROVENANCE)
    path = tmp_path / "a folder" / "bépo ü.nc"
    assert write_netcdf(tree, path) == []
    with open_recording(path) as found:
        assert_same(found, tree)
    assert [p.name for p in path.parent.iterdir()] == ["bépo ü.nc"]
