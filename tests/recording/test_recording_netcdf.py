from __future__ import annotations

import hashlib
import json

import h5netcdf
import numpy as np
import pytest

from dcnbio.errors import RecordingError
from dcnbio.recording import assemble, describe, open_recording, write_netcdf


@pytest.fixture
def tree(run):
    plan = run.layout()
    return assemble(plan, run.batches(plan), run.PROVENANCE)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_store_is_converted_and_described_alike(run, write, tmp_path):
    write(tmp_path / "run.zarr", run.layout(), failed=(3,))
    write_netcdf(open_recording(tmp_path / "run.zarr"), tmp_path / "run.nc")
    from_store, from_file = describe(tmp_path / "run.zarr"), describe(tmp_path / "run.nc")
    for name in ("complete", "done", "total", "provenance", "blocks"):
        assert from_store[name] == from_file[name]
    assert from_file["blocks"]["block1"]["failed"] == {"non_finite": 1}


def test_float16_is_promoted_and_says_so(run, tmp_path):
    plan = run.layout(dtype="float16")
    tree = assemble(plan, run.batches(plan), run.PROVENANCE)
    notices = write_netcdf(tree, tmp_path / "run.nc")
    assert notices == ["h of /block1 is float16, which netCDF does not have; it is stored as float32"]
    assert tree["block1"]["h"].dtype == np.float16
    with open_recording(tmp_path / "run.nc") as found:
        assert found["block1"]["h"].dtype == np.float32
        np.testing.assert_array_equal(found["block1"]["h"], tree["block1"]["h"].astype(np.float32))


def test_attributes_that_hdf5_lacks_come_back_by_json(tree, tmp_path):
    config = {"a": None, "b": True, "c": {"d": [1, "x"]}}
    tree.attrs.update(config=config, flag=True, nothing=None)
    tree["block1"]["h"].attrs["window"] = {"y": 3}
    write_netcdf(tree, tmp_path / "run.nc")
    with open_recording(tmp_path / "run.nc") as found:
        assert json.loads(found.attrs["config"]) == config
        assert found.attrs["flag"] == 1
        assert json.loads(found.attrs["nothing"]) is None
        assert json.loads(found["block1"]["h"].attrs["window"]) == {"y": 3}
    assert tree.attrs["config"] is config


def test_nothing_is_overwritten_unasked(tree, tmp_path):
    path = tmp_path / "run.nc"
    write_netcdf(tree, path)
    before = digest(path)
    with pytest.raises(RecordingError, match=r"holds a recording .*replace it with --overwrite"):
        write_netcdf(tree, path)
    assert digest(path) == before
    write_netcdf(tree, path, overwrite=True)


def test_what_dcnbio_did_not_write_is_left_alone(tree, tmp_path):
    text, other, folder = tmp_path / "notes.nc", tmp_path / "other.nc", tmp_path / "folder.nc"
    text.write_text("my notes")
    folder.mkdir()
    with h5netcdf.File(other, "w") as file:
        file.attrs["title"] = "somebody's"
    for path in (text, other):
        before = digest(path)
        with pytest.raises(RecordingError, match="no recording of dcnbio's, so it is left alone"):
            write_netcdf(tree, path, overwrite=True)
        assert digest(path) == before
    with pytest.raises(RecordingError, match="is a folder; give the name of a file"):
        write_netcdf(tree, folder)


def test_an_unfinished_recording_is_not_exported(run, write, tmp_path):
    write(tmp_path / "run.zarr", run.layout(), only=[0])
    partial = open_recording(tmp_path / "run.zarr", partial=True)
    with pytest.raises(RecordingError, match="is no complete recording"):
        write_netcdf(partial, tmp_path / "run.nc")
    assert not (tmp_path / "run.nc").exists()


def test_a_file_that_another_process_reads_is_not_replaced(tree, tmp_path, start_python):
    path = tmp_path / "run.nc"
    write_netcdf(tree, path)
    before = digest(path)
    script = "import sys, h5py\nwith h5py.File(sys.argv[1], 'r'):\n print('open', flush=True); sys.stdin.read()"
    reader = start_python(script, str(path))
    try:
        assert reader.stdout.readline() == "open\n"
        with pytest.raises(RecordingError, match="is open in this or another program, so it is not replaced"):
            write_netcdf(tree, path, overwrite=True)
    finally:
        reader.kill()
        reader.communicate()
    assert digest(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_disk_that_refuses_leaves_the_old_file(tree, tmp_path, start_python):
    path = tmp_path / "run.nc"
    write_netcdf(tree, path)
    before = digest(path)
    script = """
import resource, sys
import small_run
from dcnbio.errors import RecordingError
from dcnbio.recording import assemble, write_netcdf
plan = small_run.layout()
tree = assemble(plan, small_run.batches(plan), small_run.PROVENANCE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
try:
    write_netcdf(tree, sys.argv[1], overwrite=True)
except RecordingError as error:
    print(error)
"""
    process = start_python(script, str(path))
    out, err = process.communicate(timeout=60)
    assert "run.nc cannot be written: " in out, err
    assert digest(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_cut_file_is_refused(tree, tmp_path):
    path = tmp_path / "run.nc"
    write_netcdf(tree, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(
        RecordingError, match="is no recording of dcnbio's, or one that was cut or damaged; copy it again"
    ):
        open_recording(path)
    path.write_text("notes")
    with pytest.raises(RecordingError, match="is no recording of dcnbio's; give a"):
        open_recording(path)


@pytest.mark.parametrize("chunks", [None, {}])
def test_a_file_that_was_closed_can_be_replaced(tree, tmp_path, chunks):
    if chunks is not None:
        pytest.importorskip("dask")
    path = tmp_path / "run.nc"
    write_netcdf(tree, path)
    with open_recording(path, chunks=chunks) as found:
        found["block1"]["h"][0].load()
        with pytest.raises(RecordingError, match="is open in this or another program, so it is not replaced"):
            write_netcdf(tree, path, overwrite=True)
    write_netcdf(tree, path, overwrite=True)
