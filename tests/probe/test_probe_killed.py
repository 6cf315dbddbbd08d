"""A probe that is killed at random moments, again and again, ends equal to one that was left alone."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.commands.app import run
from dcnbio.recording import describe

OPTIONS = ["--limit", "40", "--times", "5", "--blocks", "1", "--batch-size", "2", "--integration-time", "1:0.5"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def start(*arguments, **options):
    """Start a probe in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "dcnbio", "probe", *OPTIONS, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def images_done(path):
    """Count the images that every reader takes for finished; none where there is no store yet."""
    return describe(path)["done"] if (Path(path) / ".journal" / "header.json").exists() else 0


def kill_within(rng, path):
    """Start or resume a probe, wait for it to begin its work, kill it a random while later; give what is kept."""
    before = images_done(path)
    with start("--out", path, "--resume") as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and images_done(path) == before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.15))
        process.kill()
    return images_done(path)


def killed_and_resumed(kills):
    """Kill a probe so many times, or until it is done; nothing that is finished is lost; compare what it ends with."""
    rng = np.random.default_rng(11)
    done = 0
    for _ in range(kills):
        if Path("cut.zarr", "zarr.json").exists():
            break
        now = kill_within(rng, "cut.zarr")
        if Path("cut.zarr", "zarr.json").exists():
            break
        assert now >= done
        done = now
        with pytest.raises(dcnbio.DcnbioError, match="unfinished"):
            dcnbio.open("cut.zarr")
    assert done > 0
    assert run(["probe", *OPTIONS, "--out", "cut.zarr", "--resume"]) == 0
    assert run(["probe", *OPTIONS, "--out", "whole.zarr"]) == 0
    cut, whole = dcnbio.open("cut.zarr", verify=True), dcnbio.open("whole.zarr", verify=True)
    for name in ("/", "block1"):
        xr.testing.assert_identical(cut[name].to_dataset().drop_attrs(), whole[name].to_dataset().drop_attrs())


def test_three_kills_leave_no_trace():
    killed_and_resumed(3)


@pytest.mark.slow
def test_twenty_kills_leave_no_trace():
    killed_and_resumed(20)


def small_files():
    """Let no file of this process grow beyond 300 kB, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_a_disk_that_refuses_ends_in_one_sentence_and_keeps_what_is_finished():
    assert run(["probe", *OPTIONS, "--out", "cut.zarr", "--shard", "1/10"]) == 0
    kept = images_done("cut.zarr")
    with start("--out", "cut.zarr", "--resume", preexec_fn=small_files) as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if line]
    assert len(lines) == 1
    assert "cannot be written" in lines[0]
    assert "--resume" in lines[0]
    assert images_done("cut.zarr") == kept > 0
    assert run(["probe", *OPTIONS, "--out", "cut.zarr", "--resume"]) == 0
    assert dcnbio.open("cut.zarr").sizes["stimulus"] == 40
