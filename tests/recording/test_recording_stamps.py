"""A recording's list of files tells contents, not only damage; one whose list tells damage alone is still read."""

from __future__ import annotations

import json
import os
import shutil

import google_crc32c
import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import RecordingError
from dcnbio.recording import (
    BlockLayout,
    RecordingLayout,
    RecordingWriter,
    VariableLayout,
    assemble,
    describe,
    open_recording,
)
from dcnbio.recording.journal import Journal
from dcnbio.recording.shards import plan_chunks, write_shard
from dcnbio.recording.stamps import is_whole, stamp_from_json, stamp_of_chunk, stamp_to_json
from dcnbio.recording.uncached import UncachedFile

SHARD = "block1/h/c.0.0.0.0.0"
OTHER = "block1/h/c.1.0.0.0.0"


def exchange(one, other):
    """Let two files change places."""
    kept = one.with_name("kept")
    os.rename(one, kept)
    os.rename(other, one)
    os.rename(kept, other)


@pytest.fixture
def plan(run):
    return run.layout()


@pytest.fixture
def stores(run, write, plan, tmp_path):
    """Two recordings of one layout, of other images; the second's batches are the first's in another order."""
    write(tmp_path / "one.zarr", plan)
    mirrored = [run.batch(plan, index) for index in (1, 0)]
    with RecordingWriter(tmp_path / "two.zarr", plan, {**run.PROVENANCE, "images": "others"}) as writer:
        for place, batch in enumerate(mirrored):
            writer.write(type(batch)(**{**vars(batch), "first": place * plan.batch_size}))
        writer.write(run.batch(plan, 2))
        writer.finish()
    return tmp_path / "one.zarr", tmp_path / "two.zarr"


def made_old(store):
    """Write a recording's list of files, or its journal, in its first form: size and CRC-32C of each whole file."""

    def old(names):
        return {
            name: [(store / name).stat().st_size, google_crc32c.value((store / name).read_bytes())] for name in names
        }

    listed = store / "stimulus" / "manifest.json"
    if listed.exists():
        values = json.loads(listed.read_bytes())
        listed.write_text(json.dumps({**values, "files": old(values["files"])}))
        return
    for path in (store / ".journal").glob("batch-*.npz"):
        with np.load(path) as file:
            record = {name: file[name] for name in file.files}
        record["shards"] = np.array(json.dumps(old(json.loads(str(record["shards"])))))
        np.savez(path, **record)
    header = store / ".journal" / "header.json"
    header.write_text(header.read_text().replace("dcnbio recording 2", "dcnbio recording 1"))


def test_whole_files_of_one_shape_have_one_checksum(stores):
    """Why the rule is as it is: with each chunk's own CRC behind it, the CRC of a file says nothing of its bytes."""
    one, two = ((store / SHARD).read_bytes() for store in stores)
    assert one != two
    assert google_crc32c.value(one) == google_crc32c.value(two)


@pytest.mark.parametrize("name", [SHARD, "logits/c/0/0", "block2/h_norm/c/0/0", "block1/step_time/c/0/0"])
def test_a_file_of_another_recording_of_the_same_shape_is_named(stores, name):
    one, two = stores
    if name == "block2/h_norm/c/0/0":  # all ones in both: the same bytes are the same recording
        values = np.frombuffer((two / name).read_bytes()[:-4], "<f4") + 1
        (two / name).write_bytes(values.tobytes() + google_crc32c.value(values.tobytes()).to_bytes(4, "little"))
    shutil.copy(two / name, one / name)
    assert open_recording(one).attrs["complete"] == 1  # sizes are equal
    with pytest.raises(RecordingError, match=f"is damaged: {name} is not as it was recorded, 1 of its"):
        open_recording(one, verify=True)
    with pytest.raises(RecordingError, match=f"is damaged: {name} is not as it was recorded"):
        describe(one, verify=True)


def test_two_files_of_one_recording_that_changed_places_are_named(stores):
    one, _ = stores
    exchange(one / SHARD, one / OTHER)
    with pytest.raises(RecordingError, match=f"is damaged: {SHARD} is not as it was recorded, 2 of its"):
        open_recording(one, verify=True)
    exchange(one / SHARD, one / OTHER)
    assert open_recording(one, verify=True).attrs["complete"] == 1
    assert describe(one, verify=True)["verified"]


def test_resuming_records_again_what_changed_places(run, write, plan, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 1])
    exchange(path / SHARD, path / OTHER)
    about = describe(path, verify=True)
    assert (about["done"], sorted(about["damaged"])) == (0, [SHARD, OTHER])
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert sorted(writer.damaged) == [SHARD, OTHER]
        assert writer.done == set()
        for batch in run.batches(plan):
            writer.write(batch)
        writer.finish()
    xr.testing.assert_identical(
        open_recording(path, verify=True).load(), assemble(plan, run.batches(plan), run.PROVENANCE)
    )


def test_resuming_records_again_what_came_from_another_recording(run, write, plan, stores, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 1])
    shutil.copy(stores[1] / OTHER, path / OTHER)
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert (writer.done, writer.damaged) == ({0}, [OTHER])


def test_a_recording_whose_list_tells_damage_alone_is_read_and_verified(stores):
    one, two = stores
    made_old(one)
    assert open_recording(one, verify=True).attrs["complete"] == 1
    shutil.copy(two / SHARD, one / SHARD)
    assert open_recording(one, verify=True).attrs["complete"] == 1  # what that rule cannot see
    data = bytearray((one / SHARD).read_bytes())
    data[9] ^= 4
    (one / SHARD).write_bytes(data)
    with pytest.raises(RecordingError, match=f"is damaged: {SHARD} is not as it was recorded"):
        open_recording(one, verify=True)


def test_a_recording_that_was_begun_by_the_first_rule_goes_on_by_the_second(run, write, plan, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 1])
    made_old(path)
    assert Journal(path).header().layout.n == plan.n
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert (writer.done, writer.damaged) == ({0, 1}, [])
        writer.write(run.batch(plan, 2))
        writer.finish()
    xr.testing.assert_identical(
        open_recording(path, verify=True).load(), assemble(plan, run.batches(plan), run.PROVENANCE)
    )
    files = json.loads((path / "stimulus" / "manifest.json").read_bytes())["files"]
    assert isinstance(files[SHARD], list)
    assert files["block1/h/c.2.0.0.0.0"]["chunks"] == 1


def test_a_journal_of_a_later_format_is_refused(write, run, plan, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0])
    header = path / ".journal" / "header.json"
    header.write_text(header.read_text().replace("dcnbio recording 2", "dcnbio recording 3"))
    with pytest.raises(
        RecordingError, match="has format 'dcnbio recording 3'; this version reads dcnbio recording 1 and"
    ):
        RecordingWriter(path, plan, run.PROVENANCE, resume=True)


@settings(max_examples=20, deadline=None)
@given(images=st.integers(1, 5), batch=st.integers(1, 5), times=st.integers(1, 4), seed=st.integers(0, 9))
def test_the_writer_stamps_what_is_in_the_file(tmp_path_factory, images, batch, times, seed):
    block = BlockLayout("block1", np.arange(times, dtype=float), (2, 3, 3))
    layout = RecordingLayout(range(images), [0] * images, [""] * images, ["cat"], [block], batch)
    h = np.random.default_rng(seed).normal(size=(min(images, batch), times, 2, 3, 3)).astype("float32")
    path = tmp_path_factory.mktemp("shard") / "file"
    with open(path, "xb") as file, UncachedFile(file.fileno()) as past:
        stamp = write_shard(past, h, block, plan_chunks(layout, block))
    assert is_whole(path, stamp, read=True)
    assert stamp_from_json(json.loads(json.dumps(stamp_to_json(stamp)))) == stamp


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_changed_byte_passes(tmp_path_factory, data):
    """Chunks, their checksums and the index, with a place of the index that has no chunk."""
    taken = VariableLayout("recorded_time", ("time",), "float64", "solver time of each record", "solver time")
    block = BlockLayout("block1", np.arange(8, dtype=float), (1, 2, 2), accepted=True, extra=(taken,))
    layout = RecordingLayout(range(2), [0] * 2, [""] * 2, ["cat"], [block], 2)
    h = np.random.default_rng(0).normal(size=(2, 8, 1, 2, 2)).astype("float32")
    h[:, 4:] = np.nan
    path = tmp_path_factory.mktemp("shard") / "file"
    with open(path, "xb") as file:
        stamp = write_shard(file, h, block, plan_chunks(layout, block))
    assert is_whole(path, stamp, read=True)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    assert not is_whole(path, stamp, read=True)


def test_a_stamp_is_the_checksum_of_checksums_that_zarr_would_store(write, plan, tmp_path):
    """The oracle: the values as Zarr reads them, and the specification's encoding of them."""
    write(tmp_path / "run.zarr", plan)
    values = zarr.open_array(tmp_path / "run.zarr" / "logits", mode="r")[:].astype("<f4").tobytes()
    check = google_crc32c.value(values).to_bytes(4, "little")
    stamp = stamp_of_chunk(tmp_path / "run.zarr" / "logits" / "c" / "0" / "0")
    assert (stamp.size, stamp.crc) == (len(values) + 4, google_crc32c.value(check))


def test_the_command_says_what_came_of_the_comparison(write, plan, stores, tmp_path, capsys):
    from dcnbio.commands.app import run as command

    one, two = (str(store) for store in stores)
    assert command(["info", one, "--verify"]) == 0
    assert "verified  every file is as it was recorded" in capsys.readouterr().out
    shutil.copy(stores[1] / SHARD, stores[0] / SHARD)
    assert command(["info", one]) == 0
    assert command(["info", one, "--verify"]) == 2
    assert f"{SHARD} is not as it was recorded" in capsys.readouterr().err
    path = tmp_path / "unfinished.zarr"
    write(path, plan, only=[0, 1])
    exchange(path / SHARD, path / OTHER)
    assert command(["info", str(path), "--verify", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["done"], sorted(found["damaged"])) == (0, [SHARD, OTHER])
    assert command(["info", str(path), "--verify"]) == 3
    assert f"verified  {SHARD} is not as it was recorded; --resume records it again" in capsys.readouterr().out
    assert command(["info", "dcn-ode", "--verify"]) == 2
    assert "verify (--verify) is given and dcn-ode is no recording" in capsys.readouterr().err
    open_recording(two).to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    assert command(["info", str(tmp_path / "run.nc"), "--verify"]) == 0
    assert "verified  nothing: a netCDF file is one file" in capsys.readouterr().out
