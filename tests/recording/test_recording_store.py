from __future__ import annotations

import json
import resource
import sys

import numpy as np
import pytest
import xarray as xr
import zarr

from dcnbio.errors import RecordingError
from dcnbio.recording import BlockLayout, RecordingWriter, describe, estimate_bytes, open_recording
from dcnbio.recording.shards import LEAST_BYTES, MOST_BYTES, plan_chunks


def files_of(path):
    return [file for file in path.rglob("*") if file.is_file()]


def test_a_thousand_images_are_few_files(run, write, tmp_path):
    plan = run.layout(n=1000, batch_size=100, blocks=[BlockLayout("block1", np.linspace(0, 2, 50), (2, 3, 3))])
    write(tmp_path / "run.zarr", plan)
    assert len(files_of(tmp_path / "run.zarr")) < 60
    assert len(files_of(tmp_path / "run.zarr" / "block1" / "h")) == 11


@pytest.mark.parametrize("batch_size", [1, 7, 97, 100, 128, 1000])
@pytest.mark.parametrize("times", [2, 21, 50, 2000])
@pytest.mark.parametrize("shape", [(32, 30, 30), (64, 15, 15), (128, 7, 7), (32, 32, 32)])
def test_chunks_are_of_a_size_that_disks_and_memories_like(run, batch_size, times, shape):
    block = BlockLayout("block1", np.linspace(0, 2, times), shape)
    plan = plan_chunks(run.layout(n=1000, batch_size=batch_size, blocks=[block]), block)
    assert plan.images % plan.chunk_images == 0
    assert plan.times % plan.chunk_times == 0
    size = plan.chunk_images * plan.chunk_times * int(np.prod(shape)) * 4
    assert size <= MOST_BYTES
    prime = batch_size in (7, 97)
    assert size >= LEAST_BYTES or size == batch_size * block.image_bytes or (prime and plan.chunk_images == 1)


def test_zarr_agrees_on_chunks_shards_and_fill_value(run, write, tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.recording.shards.MOST_BYTES", 1000)
    monkeypatch.setattr("dcnbio.recording.shards.TARGET_BYTES", 1000)
    plan = run.layout()
    write(tmp_path / "run.zarr", plan)
    array = zarr.open_array(tmp_path / "run.zarr" / "block1" / "h", mode="r")
    assert array.shards == (4, 4, 4, 5, 6)
    assert array.chunks == (1, 2, 4, 5, 6)
    given = np.concatenate([batch.blocks["block1"].h for batch in run.batches(plan)])
    np.testing.assert_array_equal(array[:], given)
    np.testing.assert_array_equal(array[3:9, 1:], given[3:9, 1:])


def test_records_of_failed_images_are_data_and_have_their_file(run, write, tmp_path):
    plan = run.layout()
    everything = tuple(range(10))
    write(tmp_path / "run.zarr", plan, failed=everything)
    assert len(list((tmp_path / "run.zarr/block1/h").glob("c.*"))) == plan.batches
    with RecordingWriter(tmp_path / "run.zarr", plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == {0, 1, 2}
    tree = open_recording(tmp_path / "run.zarr")
    assert tree["block1"]["h"].isnull().all()
    assert (tree["block1"]["status"] == 4).all()
    about = describe(tmp_path / "run.zarr")
    assert (about["complete"], about["done"]) == (True, 10)
    assert about["blocks"]["block1"]["failed"] == {"non_finite": 10}


@pytest.mark.parametrize("name", ["block1/h/c.1.0.0.0.0", "block2/h/c.2.0.0.0.0", "block1/nfe/c/0", "logits/c/0/0"])
def test_a_file_that_is_gone_or_cut_is_named_and_never_read_as_fill(write, run, tmp_path, name):
    path = tmp_path / "run.zarr"
    write(path, run.layout())
    file = path / name
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    with pytest.raises(RecordingError, match=f"is damaged: {name} is not as it was recorded"):
        open_recording(path)
    file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(RecordingError, match=f"is damaged: {name} is not as it was recorded"):
        open_recording(path, verify=True)
    file.unlink()
    with pytest.raises(RecordingError, match=f"is damaged: {name} is missing"):
        open_recording(path)
    if "/h/" in name:
        # readers that know no list of files see NaN, never zeros
        raw = xr.open_datatree(path, engine="zarr")[name.split("/")[0]]["h"]
        lost = raw[4:8] if "c.1" in name else raw[8:]
        assert lost.isnull().all()


def test_a_flipped_bit_is_seen_by_every_reader(write, run, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, run.layout())
    file = path / "block1/h/c.1.0.0.0.0"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    for tree in (open_recording(path), xr.open_datatree(path, engine="zarr")):
        assert not tree["block1"]["h"][:4].isnull().any()
        with pytest.raises(ValueError, match="checksum"):
            tree["block1"]["h"][4:8].load()


@pytest.mark.parametrize("name", ["stimulus/manifest.json", "block1/h/zarr.json", "zarr.json"])
def test_broken_metadata_are_refused_in_one_sentence(write, run, tmp_path, name):
    path = tmp_path / "run.zarr"
    write(path, run.layout())
    (path / name).write_text("{")
    if name == "block1/h/zarr.json":
        # the root's copy of it serves
        assert open_recording(path).attrs["complete"] == 1
    else:
        with pytest.raises(RecordingError, match=r"is damaged|is no recording of dcnbio's"):
            open_recording(path)


def test_what_is_no_recording_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zarr").write_text("notes")
    xr.Dataset({"a": ("x", [1.0])}).to_zarr(tmp_path / "other.zarr", zarr_format=3, consolidated=False)
    for name, message in [
        ("none.zarr", "does not exist; check the path"),
        ("empty", "is an empty folder and no recording"),
        ("text.zarr", "is no recording of dcnbio's"),
        ("other.zarr", "is no recording of dcnbio's"),
    ]:
        with pytest.raises(RecordingError, match=message):
            open_recording(tmp_path / name)
        with pytest.raises(RecordingError, match=message):
            describe(tmp_path / name)


def test_the_description_is_plain_values(run, write, tmp_path):
    plan = run.layout(nfe_per="batch")
    write(tmp_path / "run.zarr", plan, only=[0])
    unfinished = json.loads(json.dumps(describe(tmp_path / "run.zarr")))
    write(tmp_path / "run.zarr", plan, resume=True)
    about = json.loads(json.dumps(describe(tmp_path / "run.zarr")))
    assert unfinished["blocks"].keys() == about["blocks"].keys() == {"block1", "block2"}
    assert about["blocks"]["block1"]["shape"] == [4, 5, 6]
    assert about["blocks"]["block1"]["times"] == [0.0, 1.0, 2.0]
    assert about["blocks"]["block1"]["nfe_per"] == "batch"
    assert about["provenance"] == run.PROVENANCE
    assert about["bytes"] == sum(file.stat().st_size for file in files_of(tmp_path / "run.zarr"))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in kB on Linux alone")
def test_memory_does_not_grow_with_the_recording(run, tmp_path):
    plan = run.layout(n=400, batch_size=20, blocks=[BlockLayout("block1", np.linspace(0, 2, 21), (8, 20, 20))])
    batch = run.batch(plan, 0)
    with RecordingWriter(tmp_path / "run.zarr", plan, run.PROVENANCE) as writer:
        writer.write(batch)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for index in range(1, plan.batches):
            writer.write(type(batch)(index * 20, batch.logits, batch.blocks))
        writer.finish()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert estimate_bytes(plan) > 100e6
    assert grown < 20e6
