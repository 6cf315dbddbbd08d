"""Several writers at one store: none mixes its numbers with another run's or breaks what another has finished."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording import RecordingWriter, assemble, check_target, open_recording
from dcnbio.recording.durable import Parts

OTHER = {"seed": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


@pytest.fixture
def plan(run):
    return run.layout()


@pytest.fixture
def no_locks(monkeypatch):
    """A disk without locks, where a store can be replaced under its writer."""
    monkeypatch.setattr("dcnbio.recording.occupied._shared", lambda path: None)


def opened(path, plan, run, **options):
    return RecordingWriter(path, plan, run.PROVENANCE, **options)


def is_whole(path, plan, run):
    expected = assemble(plan, run.batches(plan), run.PROVENANCE)
    xr.testing.assert_identical(open_recording(path, verify=True).load(), expected)


def test_a_store_is_not_replaced_while_its_writer_is_open(run, write, plan, path):
    refused = r"run\.zarr is being recorded by another process, or by a writer of this one, so it is not replaced"
    with opened(path, plan, run) as writer:
        writer.write(run.batch(plan, 0))
        with pytest.raises(RecordingError, match=refused):
            check_target(path, overwrite=True)
        with pytest.raises(RecordingError, match=refused):
            RecordingWriter(path, plan, OTHER, overwrite=True)
    late = RecordingWriter(path, plan, OTHER, overwrite=True)  # nobody is at work now
    # and now somebody is again
    with opened(path, plan, run, resume=True), pytest.raises(RecordingError, match=refused):
        late.write(run.batch(plan, 0))
    write(path, plan, resume=True)
    is_whole(path, plan, run)


HOLD = """
import sys
import small_run
from dcnbio.recording import RecordingWriter
plan = small_run.layout()
with RecordingWriter(sys.argv[1], plan, small_run.PROVENANCE) as writer:
    writer.write(small_run.batch(plan, 0))
    print("written", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_stands_in_nobodys_way(run, write, plan, path, start_python):
    process = start_python(HOLD, str(path))
    assert process.stdout.readline() == "written\n"
    with pytest.raises(RecordingError, match="is being recorded by another process"):
        write(path, plan, overwrite=True)
    process.kill()
    process.communicate(timeout=60)
    write(path, plan, overwrite=True)
    is_whole(path, plan, run)


@pytest.mark.usefixtures("no_locks")
def test_a_writer_whose_store_was_replaced_stops_and_adds_nothing(run, plan, path):
    first = opened(path, plan, run)
    first.write(run.batch(plan, 0))
    with RecordingWriter(path, plan, OTHER, overwrite=True) as second:
        second.write(run.batch(plan, 0))
        for step in (lambda: first.write(run.batch(plan, 1)), first.finish, first.finish_if_last):
            with pytest.raises(
                RecordingError, match=r"is another recording by now: another process replaced or removed"
            ):
                step()
        assert [p.name for p in path.rglob("*.part")] == []
        for index in (1, 2):
            second.write(run.batch(plan, index))
        second.finish()
    with pytest.raises(RecordingError, match=r"is another recording by now"):  # complete, with other numbers
        first.write(run.batch(plan, 2))
    expected = assemble(plan, run.batches(plan), OTHER)
    xr.testing.assert_identical(open_recording(path, verify=True).load(), expected)


def test_a_writer_whose_store_was_removed_says_so(run, plan, path):
    writer = opened(path, plan, run)
    writer.write(run.batch(plan, 0))
    shutil.rmtree(path)
    with pytest.raises(RecordingError, match=r"run\.zarr is no longer there: another process replaced or removed it"):
        writer.write(run.batch(plan, 1))


@pytest.mark.parametrize("step", ["write", "finish", "finish_if_last"])
def test_a_second_writer_leaves_a_recording_that_the_first_has_finished(run, write, plan, path, step):
    second = opened(path, plan, run, resume=True)
    second.write(run.batch(plan, 0))
    write(path, plan, resume=True)
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    assert not second.overtaken
    second.write(run.batch(plan, 1)) if step == "write" else getattr(second, step)()
    assert second.overtaken
    second.write(run.batch(plan, 2))
    assert second.finish_if_last()
    assert second.images_done == plan.n
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before
    is_whole(path, plan, run)


def test_a_writer_that_joins_while_the_store_becomes_complete_finds_it_complete(run, write, plan, path, monkeypatch):
    write(path, plan, only=[0])
    state_of = check_target

    def late(*arguments, **options):
        found = state_of(*arguments, **options)
        monkeypatch.undo()
        write(path, plan, resume=True)
        return found

    monkeypatch.setattr("dcnbio.recording.writer.check_target", late)
    with opened(path, plan, run, resume=True) as writer:
        assert writer.done == {0, 1, 2}
    is_whole(path, plan, run)


def test_a_batch_that_two_record_is_never_without_its_shard(run, plan, path, monkeypatch):
    first, second = opened(path, plan, run, resume=True), opened(path, plan, run, resume=True)
    first.write(run.batch(plan, 0))
    shard = path / "block1/h/c.0.0.0.0.0"
    whole, place = shard.read_bytes(), Parts.place
    seen = []

    def watched(parts):
        seen.append(shard.read_bytes())
        place(parts)

    monkeypatch.setattr(Parts, "place", watched)
    second.write(run.batch(plan, 0))
    assert seen[0] == whole == shard.read_bytes()


def test_two_that_finish_at_the_same_moment_both_end_well(run, write, plan, tmp_path):
    barrier = Barrier(2)

    def end(writer, how):
        barrier.wait()
        return getattr(writer, how)()

    for turn, how in enumerate(["finish", "finish_if_last"] * 6):
        path = tmp_path / f"run{turn}.zarr"
        write(path, plan, only=[0, 1, 2])
        pair = [opened(path, plan, run, resume=True) for _ in range(2)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(end, pair, [how] * 2))
        is_whole(path, plan, run)


def test_a_store_of_an_earlier_version_is_gone_on_with(run, write, plan, path):
    write(path, plan, only=[0])
    for name in ("run", "writers"):  # it had no such files
        os.remove(path / ".journal" / name)
    write(path, plan, resume=True)
    is_whole(path, plan, run)
