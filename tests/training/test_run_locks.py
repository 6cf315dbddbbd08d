"""One process at a time writes to a run's folder, and a state is loaded into the run that saved it alone."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dcnbio.errors import InputError
from dcnbio.training import RunOptions, train
from dcnbio.training.file_lock import FileLock, LockedError
from dcnbio.training.run_identity import run_identity
from dcnbio.training.run_lock import RunLock


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}


@pytest.mark.parametrize("how", [{"resume": True}, {"overwrite": True}, {}])
def test_a_folder_that_another_process_trains_in_is_refused_and_left_as_it_is(small, start_run, tmp_path, how):
    process = start_run(tmp_path)
    try:
        next(iter(process.stdout))
        # so that nothing changes in the folder meanwhile
        process.send_signal(signal.SIGSTOP)
        before = contents(tmp_path)
        with pytest.raises(InputError, match=r"another process trains in .*; wait until it ends, or choose another"):
            train(small.long_recipe(), small.images(), RunOptions(tmp_path, **how))
        assert contents(tmp_path) == before
        assert (tmp_path / ".lock").exists()
    finally:
        process.kill()
        process.communicate(timeout=60)
    # a killed process holds nothing
    assert train(None, small.images(), RunOptions(tmp_path, resume=True))["passes"] == 18 * 16
    assert not (tmp_path / ".lock").exists()


def test_a_folder_that_is_made_meanwhile_is_refused_too(small, tmp_path, monkeypatch):
    """Two runs begin at once in a folder that was not there: whoever makes it first has it."""
    import dcnbio.training.whole_run as whole_run

    out, prepared = tmp_path / "run", whole_run.prepared
    other = RunLock(out, writes=True)

    def slowly(*arguments):
        out.mkdir()
        other.take()
        return prepared(*arguments)

    monkeypatch.setattr(whole_run, "prepared", slowly)
    with pytest.raises(InputError, match="another process trains in"):
        train(small.recipe("epochs=1"), small.images(), RunOptions(out))
    assert [path.name for path in out.iterdir()] == [".lock"]
    other.lock.let_go()


def test_where_there_are_no_locks_a_warning_says_so(small, tmp_path, monkeypatch):
    import fcntl

    def none(file, how):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.warns(RuntimeWarning, match=r"disk without file locks \(Function not implemented\)"):
        assert train(small.recipe("epochs=1"), small.images(), RunOptions(tmp_path))["passes"] == 64
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert train(small.recipe("epochs=1"), small.images(), RunOptions(tmp_path, overwrite=True))["passes"] == 64


def one_more(path: Path, times: int) -> None:
    for _ in range(times):
        with FileLock(path.with_name("lock"), wait=True):
            path.write_text(str(int(path.read_text()) + 1))


def test_who_waits_for_a_lock_loses_nothing(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    processes = [context.Process(target=one_more, args=(path, 200)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert path.read_text() == "600"
    assert os.listdir(tmp_path) == ["count"]


def test_a_lock_is_held_once(tmp_path):
    with FileLock(tmp_path / "lock") as held:
        held.take()
        with pytest.raises(LockedError):
            FileLock(tmp_path / "lock").take()
    with FileLock(tmp_path / "lock"):
        pass


def begun(small, folder: Path, *settings: str) -> Path:
    assert train(small.recipe("epochs=2", *settings), small.images(), RunOptions(folder, stop_minutes=0.0)) is None
    return folder


@pytest.mark.parametrize("settings", ["learning_rate=0.05", "seed=1", "held_out=8"])
def test_a_state_of_another_run_is_refused(small, tmp_path, settings):
    one, other = begun(small, tmp_path / "one"), begun(small, tmp_path / "other", settings)
    shutil.copy(other / "state.safetensors", one)
    before = contents(one)
    with pytest.raises(InputError, match=r"is no state of this run .*another recipe, other images or another start"):
        train(None, small.images(), RunOptions(one, resume=True))
    assert contents(one) == before


def test_a_record_that_was_changed_is_refused(small, tmp_path):
    begun(small, tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["identity"] == run_identity(record)
    record["recipe"]["optimisation"]["epochs"] = 3
    (tmp_path / "run.json").write_text(json.dumps(record))
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"run\.json was changed since the run was begun"):
        train(None, small.images(), RunOptions(tmp_path, resume=True))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("record_too", [True, False])
def test_a_run_of_an_earlier_version_without_identities_goes_on(small, tmp_path, record_too):
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    begun(small, tmp_path)
    path = tmp_path / "state.safetensors"
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata.pop("run").startswith("sha256:")
    save_file(load_file(path), path, metadata=metadata)
    if record_too:
        record = json.loads((tmp_path / "run.json").read_text())
        # what an earlier version wrote has none of the settings of later ones either
        del record["identity"], record["recipe"]["data"]["border"]
        (tmp_path / "run.json").write_text(json.dumps(record))
    assert train(None, small.images(), RunOptions(tmp_path, resume=True, stop_minutes=0.0)) is None
    assert train(None, small.images(), RunOptions(tmp_path, resume=True))["passes"] == 128


def test_several_processes_hold_the_lock_by_the_one_that_writes(tmp_path):
    with RunLock(tmp_path, writes=False), RunLock(tmp_path, writes=True):
        assert (tmp_path / ".lock").exists()
    assert os.listdir(tmp_path) == []


def test_the_command_ends_with_status_two(small, tmp_path):
    """In another process, as nobody holds a lock against himself."""
    import numpy as np

    images = small.coloured(16, side=32)
    np.savez(tmp_path / "set.npz", images=images.images, labels=images.labels)
    (tmp_path / "run").mkdir()
    command = [sys.executable, "-m", "dcnbio", "train", "--images", "set.npz", "--out", "run", "--overwrite"]
    with RunLock(tmp_path / "run", writes=True):
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("dcnbio: another process trains in run; ")
