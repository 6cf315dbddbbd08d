"""Bytes that are not those that were recorded: one sentence names store, variable and fix, however they are read."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle

import numpy as np
import pytest
import xarray as xr

from dcnbio.commands.app import run as run_command
from dcnbio.errors import RecordingError
from dcnbio.recording import assemble, describe, open_recording, write_netcdf

ANEW = r"copy the whole store again or record anew with --overwrite \(dcnbio info .*run.zarr --verify names"


def flip(file, at):
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


@pytest.fixture
def store(write, run, tmp_path):
    write(tmp_path / "run.zarr", run.layout())
    return tmp_path / "run.zarr"


@pytest.mark.parametrize("chunks", [None, {}, "auto"])
@pytest.mark.parametrize("at", [100, -20])  # within a chunk, and within the index of all chunks
def test_a_flipped_byte_of_h_is_told_when_it_is_read(store, chunks, at):
    if chunks is not None:
        pytest.importorskip("dask")
    flip(store / "block1/h/c.1.0.0.0.0", at)
    message = rf"run.zarr is damaged: block1/h cannot be read \(a chunk of it does not match its checksum\); {ANEW}"
    tree = open_recording(store, chunks=chunks)
    with pytest.raises(RecordingError, match=message):
        tree["block1"]["h"].mean("time").compute()
    with pytest.raises(RecordingError, match=message):
        tree["block1"]["h"].isel(stimulus=[4, 1], y=[0, 2]).load()
    with pytest.raises(RecordingError, match=message):
        pickle.loads(pickle.dumps(tree)).load()


def test_what_is_not_damaged_is_read_as_before(store, run):
    flip(store / "block1/h/c.1.0.0.0.0", 100)
    tree, plan = open_recording(store), run.layout()
    whole = assemble(plan, run.batches(plan), run.PROVENANCE)
    h, expected = tree["block1"]["h"], whole["block1"]["h"]
    np.testing.assert_array_equal(h[:4], expected[:4])
    np.testing.assert_array_equal(h[8:, ::-2, :, 1], expected[8:, ::-2, :, 1])
    pointwise = {name: xr.DataArray([0, 2, 1], dims="point") for name in ("stimulus", "channel")}
    np.testing.assert_array_equal(h.isel(pointwise), expected.isel(pointwise))
    xr.testing.assert_identical(tree["block2"].to_dataset().load(), whole["block2"].to_dataset())


@pytest.mark.parametrize("name", ["logits", "stimulus", "class", "file", "block1/nfe", "block1/time", "block1/reason"])
def test_a_flipped_byte_of_any_variable_is_told_with_its_name(store, name):
    file = next(path for path in sorted((store / name / "c").rglob("*")) if path.is_file())
    flip(file, 3)
    with pytest.raises(RecordingError, match=rf"run.zarr is damaged: {name} cannot be read \(.*\); {ANEW}"):
        open_recording(store).load()


def test_automatic_chunks_are_found_for_numbers_and_texts_stay(store, run):
    pytest.importorskip("dask")
    tree, plan = open_recording(store, chunks="auto"), run.layout()
    assert tree["block1"]["h"].chunks is not None
    xr.testing.assert_identical(tree.load(), assemble(plan, run.batches(plan), run.PROVENANCE))


def test_unfinished_recordings_are_mended_by_resuming(write, run, tmp_path):
    path, plan = tmp_path / "run.zarr", run.layout()
    write(path, plan, only=[0, 1])
    flip(path / "block1/h/c.1.0.0.0.0", 100)
    tree = open_recording(path, partial=True)
    with pytest.raises(RecordingError, match=r"run.zarr is damaged: block1/h cannot be read .*; go on with --resume"):
        tree["block1"]["h"].load()
    write(path, plan, resume=True)
    assert describe(path, verify=True)["verified"]
    xr.testing.assert_identical(open_recording(path).load(), assemble(plan, run.batches(plan), run.PROVENANCE))


def test_a_store_that_is_moved_after_it_was_opened_is_no_fill_values(store, monkeypatch):
    monkeypatch.chdir(store.parent)
    tree = open_recording("run.zarr")
    (store.parent / "elsewhere").mkdir()
    os.chdir("elsewhere")
    assert np.isfinite(tree["block1"]["h"][0].values).all()
    tree = open_recording("../run.zarr")
    store.rename(store.with_name("moved.zarr"))
    with pytest.raises(RecordingError, match=r"\.\./run.zarr no longer holds block1/h, which is read when it is used"):
        tree["block1"]["h"][1].load()


def test_the_error_crosses_processes(store):
    flip(store / "block1/h/c.1.0.0.0.0", 100)
    h = open_recording(store)["block1"]["h"]
    pool = multiprocessing.get_context("spawn").Pool(1)
    with pool, pytest.raises(RecordingError, match="is damaged: block1"):
        pool.apply(h.load)


def test_commands_say_so_in_one_sentence_and_leave_nothing(store, monkeypatch, capfd):
    monkeypatch.chdir(store.parent)
    flip(store / "block1/h/c.1.0.0.0.0", 100)
    assert run_command(["export", "run.zarr", "h.npy"]) == 2
    said = capfd.readouterr().err
    assert "run.zarr is damaged: block1/h cannot be read (a chunk of it does not match its checksum)" in " ".join(
        said.split()
    )
    assert "Traceback" not in said
    assert [path.name for path in store.parent.iterdir()] == ["run.zarr"]
    with pytest.raises(RecordingError, match=r"run.zarr is damaged: block1/h cannot be read"):
        write_netcdf(open_recording("run.zarr"), "run.nc")
    assert [path.name for path in store.parent.iterdir()] == ["run.zarr"]
    assert run_command(["info", "run.zarr", "--verify"]) == 2
    assert "block1/h/c.1.0.0.0.0 is not as it was recorded" in " ".join(capfd.readouterr().err.split())


@pytest.mark.parametrize("chunks", [None, {}])
def test_netcdf_sees_a_flipped_byte_too(run, tmp_path, chunks):
    if chunks is not None:
        pytest.importorskip("dask")
    plan, path = run.layout(), tmp_path / "run.nc"
    whole = assemble(plan, run.batches(plan), run.PROVENANCE)
    write_netcdf(whole, path)
    with open_recording(path, chunks=chunks) as tree:
        xr.testing.assert_identical(tree.load(), whole)
    for name in ("block1/h", "block2/nfe", "logits"):
        values = whole[name].values
        at = path.read_bytes().find(values.tobytes()[-16:])
        assert at > 0
        flip(path, at)
        with open_recording(path, chunks=chunks) as tree:
            message = rf"run.nc is damaged: {name} cannot be read \(a chunk of it does not match its checksum\)"
            with pytest.raises(RecordingError, match=f"{message}; copy the file again"):
                tree[name].load()
        flip(path, at)


@pytest.mark.parametrize(
    "change", [(b'"shape"', b'"shbpe"'), (b"crc32c", b"crc33c"), (b"float32", b"float3r"), (b"{", b"[")]
)
@pytest.mark.parametrize("read", [lambda path: open_recording(path, partial=True), describe])
def test_damaged_metadata_of_an_unfinished_recording_are_told(write, run, tmp_path, change, read):
    path = tmp_path / "run.zarr"
    write(path, run.layout(), only=[0, 1])
    file = path / "block1/h/zarr.json"
    file.write_bytes(file.read_bytes().replace(*change))
    with pytest.raises(RecordingError, match=r"run.zarr is damaged and cannot be opened \(.*\); record anew"):
        read(path)


def test_a_provenance_that_is_another_is_told(store):
    file = store / "zarr.json"
    before = file.read_bytes()
    for old, new in (
        (b"dopri5", b"dopri4"),
        (b'\\"rtol\\": 0.001', b'\\"rtol\\": 0.011'),
        (b'\\"tf32\\"', b'\\"tf33\\"'),
    ):
        assert before.count(old) == 1
        file.write_bytes(before.replace(old, new))
        with pytest.raises(RecordingError, match=r"run.zarr is damaged: its provenance is not the one it was recorded"):
            open_recording(store)
    file.write_bytes(before)
    manifest = store / "stimulus/manifest.json"
    values = json.loads(manifest.read_bytes())
    assert len(values.pop("provenance")) == 64
    manifest.write_text(json.dumps(values))  # as an earlier version wrote it
    file.write_bytes(before.replace(b"dopri5", b"dopri4"))
    assert open_recording(store).attrs["complete"] == 1
