"""The lock between processes: it keeps others out, and says so where it cannot."""

from __future__ import annotations

import errno
import fcntl
import os
import sys

import pytest

from dcnbio.recording import RecordingWriter, open_recording
from dcnbio.recording.alone import alone


def test_while_one_is_inside_the_lock_is_taken(tmp_path):
    path = tmp_path / "lock"
    with alone(path), open(path, "ab") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open(path, "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_disk_without_locks_is_said_and_the_steps_inside_run(tmp_path, monkeypatch):
    def refuse(file, kind):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    inside = []
    said = r"is on a system without file locks \(No locks available\); let one process"
    with pytest.warns(RuntimeWarning, match=said), alone(tmp_path / "lock"):
        inside.append(1)
    assert inside


def test_a_system_without_fcntl_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.warns(RuntimeWarning, match=r"without file locks \(no fcntl\)"), alone(tmp_path / "lock"):
        pass


def test_a_recording_on_a_disk_without_locks_is_finished(run, write, tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.recording.alone.lock", lambda file: "none here")
    plan = run.layout()
    with RecordingWriter(tmp_path / "run.zarr", plan, run.PROVENANCE) as writer:
        for batch in run.batches(plan):
            writer.write(batch)
        with pytest.warns(RuntimeWarning, match=r"run\.zarr.* is on a system without file locks \(none here\)"):
            assert writer.finish_if_last()
    assert open_recording(tmp_path / "run.zarr").attrs["complete"]
