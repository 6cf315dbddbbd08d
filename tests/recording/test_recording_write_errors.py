from __future__ import annotations

import errno
import os

import pytest
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording import RecordingWriter, assemble, open_recording
from dcnbio.recording.durable import sync_tree

LIMITED = """
import resource, sys
import numpy as np
import small_run
from dcnbio.errors import RecordingError
from dcnbio.recording import RecordingWriter
plan = small_run.layout(n=6, batch_size=2)
try:
    with RecordingWriter(sys.argv[1], plan, small_run.PROVENANCE) as writer:
        writer.write(small_run.batch(plan, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
        writer.write(small_run.batch(plan, 1))
except RecordingError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [0, 1000])
def test_a_file_that_may_not_grow_ends_the_run_and_keeps_what_is_finished(run, write, tmp_path, start_python, limit):
    path = tmp_path / "run.zarr"
    out, err = start_python(LIMITED, str(path), str(limit)).communicate(timeout=60)
    assert (
        "run.zarr cannot be written: File too large; 2 of 6 images are finished and kept; once that is mended" in out
    ), err
    assert not any(path.rglob("*.part"))
    plan = run.layout(n=6, batch_size=2)
    assert open_recording(path, partial=True).attrs["done"] == 2
    write(path, plan, resume=True)
    xr.testing.assert_identical(open_recording(path).load(), assemble(plan, run.batches(plan), run.PROVENANCE))


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_at_any_call_loses_no_finished_batch(run, write, tmp_path, monkeypatch, call):
    plan = run.layout()
    original = getattr(os, call)
    state = {"left": 10**9}

    def failing(*arguments):
        state["left"] -= 1
        if state["left"] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(*arguments)

    monkeypatch.setattr(os, call, failing)
    for left in range(0, 40, 6):
        path = tmp_path / f"run{left}.zarr"
        state["left"] = left
        with RecordingWriter(path, plan, run.PROVENANCE) as writer:
            try:
                for index in range(plan.batches):
                    writer.write(run.batch(plan, index))
                writer.finish()
            except RecordingError as error:
                assert "cannot be written: No space left on device" in str(error)  # noqa: PT017
                done = set(writer.done)
            else:
                done = {0, 1, 2}
        state["left"] = 10**9
        with RecordingWriter(path, plan, run.PROVENANCE, resume=True) as writer:
            assert writer.done >= done
        write(path, plan, resume=True)
        assert open_recording(path, verify=True).sizes["stimulus"] == 10


def test_a_folder_that_cannot_be_made_is_one_sentence(run, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    writer = RecordingWriter(tmp_path / "file" / "run.zarr", run.layout(), run.PROVENANCE)
    with pytest.raises(RecordingError, match=r"cannot be written: File exists .*/file.;"):
        writer.start()


def test_every_file_and_folder_of_a_tree_is_flushed(tmp_path, monkeypatch):
    names = [tmp_path / f"folder{i}" / f"file{i}" for i in range(20)]
    for name in names:
        name.parent.mkdir()
        name.write_text("text")
    flushed = set()
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.add(os.fstat(descriptor).st_ino))
    sync_tree(tmp_path)
    assert flushed == {path.stat().st_ino for path in (tmp_path, *names, *(name.parent for name in names))}


def test_a_file_that_cannot_be_flushed_is_told_of(tmp_path, monkeypatch):
    for i in range(20):
        (tmp_path / str(i)).write_text("text")
    last = (tmp_path / "19").stat().st_ino

    def failing(descriptor):
        if os.fstat(descriptor).st_ino == last:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="Input/output error"):
        sync_tree(tmp_path)
