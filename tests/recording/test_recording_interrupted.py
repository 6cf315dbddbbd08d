from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording import RecordingWriter, assemble, describe, open_recording
from dcnbio.recording.journal import Journal
from dcnbio.recording.publish import publish


class Interruption(BaseException):
    """Stands for a signal: nothing in the code under test catches it."""


@pytest.fixture
def plan(run):
    return run.layout()


@pytest.fixture
def whole(run, plan):
    return assemble(plan, run.batches(plan), run.PROVENANCE)


def values_of(store):
    """Every file of a store but its journal, by name."""
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in store.rglob("*")
        if path.is_file() and ".journal" not in path.parts
    }


def test_an_unfinished_recording_is_refused_and_says_how_far_it_is(write, plan, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 2])
    with pytest.raises(RecordingError, match=r"is unfinished: 6 of 10 images; .*--resume or open with partial=True"):
        open_recording(path)
    with pytest.raises((FileNotFoundError, OSError)):
        xr.open_datatree(path, engine="zarr", consolidated=False)
    about = describe(path)
    assert (about["complete"], about["done"], about["total"]) == (False, 6, 10)


@pytest.mark.parametrize("chunks", [None, {}])
def test_partial_gives_the_finished_images_and_no_others(write, plan, whole, tmp_path, chunks):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[2, 0])
    there = [0, 1, 2, 3, 8, 9]
    tree = open_recording(path, partial=True, chunks=chunks)
    assert (tree.attrs["complete"], tree.attrs["done"], tree.attrs["total"]) == (0, 6, 10)
    for name in ("/", "/block1", "/block2"):
        expected = whole[name].to_dataset(inherit=False).isel(stimulus=there)
        found = tree[name].to_dataset(inherit=False).compute()
        if "step_time" in found:
            found, expected = found.drop_vars("step_time"), expected.drop_vars("step_time")
        xr.testing.assert_equal(found, expected)


def test_partial_without_a_finished_batch_is_refused(run, plan, tmp_path):
    RecordingWriter(tmp_path / "run.zarr", plan, run.PROVENANCE).start()
    with pytest.raises(RecordingError, match="none of its 10 images is there yet"):
        open_recording(tmp_path / "run.zarr", partial=True)
    assert describe(tmp_path / "run.zarr")["done"] == 0


def test_a_resumed_store_equals_an_uninterrupted_one_byte_for_byte(run, write, plan, whole, tmp_path):
    write(tmp_path / "whole.zarr", plan)
    write(tmp_path / "run.zarr", plan, only=[0, 1])
    with RecordingWriter(tmp_path / "run.zarr", plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == {0, 1}
        assert writer.images_done == 8
        with pytest.raises(RecordingError, match=r"batch 0 of .* is recorded already"):
            writer.write(run.batch(plan, 0))
        writer.write(run.batch(plan, 2))
        writer.finish()
    assert values_of(tmp_path / "run.zarr") == values_of(tmp_path / "whole.zarr")
    xr.testing.assert_identical(open_recording(tmp_path / "run.zarr").load(), whole)


class BreakingSystem:
    """The os module, whose renames break off after a number of them."""

    def __init__(self, left=10**9):
        self.left = left

    def __getattr__(self, name):
        return getattr(os, name)

    def rename(self, *arguments):
        self._count()
        os.rename(*arguments)

    def replace(self, *arguments):
        self._count()
        os.replace(*arguments)

    def _count(self):
        self.left -= 1
        if self.left < 0:
            raise Interruption


def test_a_run_broken_at_any_rename_can_be_resumed(write, plan, whole, tmp_path, monkeypatch):
    system = BreakingSystem()
    for module in ("durable", "publish", "writer", "target"):
        monkeypatch.setattr(f"dcnbio.recording.{module}.os", system)
    write(tmp_path / "whole.zarr", plan)
    renames = 10**9 - system.left
    assert renames > 30
    for left in [0, 1, *range(2, renames - 2, 6), renames - 2, renames - 1]:
        path = tmp_path / f"run{left}.zarr"
        system.left = left
        with pytest.raises(Interruption):
            write(path, plan)
        system.left = 10**9
        if path.exists():
            with pytest.raises(RecordingError, match="is unfinished"):
                open_recording(path)
        write(path, plan, resume=True)
        assert values_of(path) == values_of(tmp_path / "whole.zarr")
    xr.testing.assert_identical(open_recording(path).load(), whole)
    assert [p for p in tmp_path.rglob("*") if p.name.endswith((".part", ".new", ".old"))] == []


KILLED = """
import os, signal, sys
import small_run
from dcnbio.recording import RecordingWriter
left = int(sys.argv[2])
replace = os.replace
def dying(*arguments):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(*arguments)
plan = small_run.layout()
with RecordingWriter(sys.argv[1], plan, small_run.PROVENANCE) as writer:
    writer.start()
    os.replace = dying
    for batch in small_run.batches(plan):
        writer.write(batch)
    writer.finish()
"""


@pytest.mark.parametrize(("left", "done"), [(1, 0), (5, 1), (9, 3)])
def test_a_killed_process_leaves_what_it_finished(run, write, plan, whole, tmp_path, start_python, left, done):
    path = tmp_path / "run.zarr"
    process = start_python(KILLED, str(path), str(left))
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, err
    with pytest.raises(RecordingError, match="is unfinished"):
        open_recording(path)
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert len(writer.done) == done
    write(path, plan, resume=True)
    xr.testing.assert_identical(open_recording(path, verify=True).load(), whole)
    assert not any(path.rglob("*.part"))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])


def flip(path):
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [cut, flip, os.remove])
def test_a_damaged_shard_is_named_and_its_batch_computed_again(run, write, plan, whole, tmp_path, harm):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 1])
    harm(path / "block1/h/c.1.0.0.0.0")
    if harm is not flip:
        assert open_recording(path, partial=True).attrs["done"] == 4
    assert open_recording(path, partial=True, verify=True).attrs["done"] == 4
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == {0}
        assert writer.damaged == ["block1/h/c.1.0.0.0.0"]
    write(path, plan, resume=True)
    xr.testing.assert_identical(open_recording(path).load(), whole)


def test_a_damaged_record_is_a_batch_that_is_not_done(run, write, plan, whole, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0, 1])
    cut(path / ".journal/batch-0000001.npz")
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == {0}
        assert writer.damaged == [".journal/batch-0000001.npz"]
    write(path, plan, resume=True)
    xr.testing.assert_identical(open_recording(path).load(), whole)


def test_a_shard_without_a_record_is_not_done(run, write, plan, whole, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0])
    (path / "block1/h/c.1.0.0.0.0").write_bytes(b"cut short")
    assert open_recording(path, partial=True).attrs["done"] == 4
    write(path, plan, resume=True)
    xr.testing.assert_identical(open_recording(path).load(), whole)


@pytest.mark.parametrize("read", [open_recording, lambda path: open_recording(path, partial=True), describe])
def test_a_recording_that_becomes_complete_while_it_is_read_is_read(run, plan, tmp_path, monkeypatch, read):
    path = tmp_path / "run.zarr"
    with RecordingWriter(path, plan, run.PROVENANCE) as writer:
        for index in range(plan.batches):
            writer.write(run.batch(plan, index))
    of_journal = Journal.header

    def header(journal):
        monkeypatch.setattr(Journal, "header", of_journal)
        publish(path)  # by the process that records it
        return of_journal(journal)

    monkeypatch.setattr(Journal, "header", header)
    found = read(path)
    assert found["complete"] if isinstance(found, dict) else found.attrs["complete"] == 1
    assert not (path / ".journal").exists()


def test_finishing_too_early_is_refused(run, write, plan, tmp_path):
    path = tmp_path / "run.zarr"
    with RecordingWriter(path, plan, run.PROVENANCE) as writer:
        with pytest.raises(RecordingError, match="no batch has been written"):
            writer.finish()
        writer.write(run.batch(plan, 0))
        with pytest.raises(RecordingError, match="cannot be finished: batch 1 is not recorded, and 2 of 3 in all"):
            writer.finish()
    write(path, plan, resume=True)
    assert open_recording(path).attrs["complete"] == 1


def test_resuming_with_other_numbers_names_every_difference(run, write, plan, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, only=[0])
    other = {**run.PROVENANCE, "solver": {"rtol": 1e-4, "method": "dopri5"}, "seed": 3, "command": "another"}
    message = r"cannot be resumed: seed was absent and is now 3; solver.rtol was 0.001 and is now 0.0001; use the same"
    with pytest.raises(RecordingError, match=message):
        RecordingWriter(path, plan, other, resume=True)
    with pytest.raises(RecordingError, match="batch_size was 4 and is now 5; use the same settings"):
        RecordingWriter(path, run.layout(batch_size=5), run.PROVENANCE, resume=True)
    write(path, plan, resume=True)
    with pytest.raises(RecordingError, match="batch_size was 4 and is now 5; use the same settings"):
        RecordingWriter(path, run.layout(batch_size=5), run.PROVENANCE, resume=True)


def test_a_difference_that_is_known_twice_is_named_once(run, write, plan, tmp_path, monkeypatch):
    monkeypatch.setitem(run.PROVENANCE, "batch_size", 4)
    write(tmp_path / "run.zarr", plan, only=[0])
    other = {**run.PROVENANCE, "batch_size": 5}
    with pytest.raises(RecordingError, match="cannot be resumed: batch_size was 4 and is now 5; use the same settings"):
        RecordingWriter(tmp_path / "run.zarr", run.layout(batch_size=5), other, resume=True)


def test_resuming_what_is_complete_or_not_there(run, write, plan, whole, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, plan, resume=True)
    before = values_of(path)
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == {0, 1, 2}
        writer.finish()
    assert values_of(path) == before
    xr.testing.assert_identical(open_recording(path).load(), whole)


SHARE = """
import sys
import small_run
from dcnbio.recording import RecordingWriter
plan = small_run.layout(n=31)
with RecordingWriter(sys.argv[1], plan, small_run.PROVENANCE, resume=True) as writer:
    for index in range(int(sys.argv[2]), plan.batches, 2):
        writer.write(small_run.batch(plan, index))
"""


def test_two_processes_fill_one_store(run, tmp_path, start_python):
    plan = run.layout(n=31)
    path = tmp_path / "run.zarr"
    processes = [start_python(SHARE, str(path), str(rank)) for rank in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
        assert writer.done == set(range(plan.batches))
        writer.finish()
    expected = assemble(plan, run.batches(plan), run.PROVENANCE)
    xr.testing.assert_identical(open_recording(path).load(), expected)


def test_times_of_long_and_short_steps_are_padded_alike(run, write, tmp_path):
    plan = run.layout(n=9, batch_size=3)
    write(tmp_path / "run.zarr", plan, only=[2])
    write(tmp_path / "run.zarr", plan, resume=True)
    tree = open_recording(tmp_path / "run.zarr")
    accepted = (~np.isnan(tree["block1"]["step_time"])).sum("step")
    np.testing.assert_array_equal(accepted, tree["block1"]["accepted"])
