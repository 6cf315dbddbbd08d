"""Several processes fill one store: equal to one process bit for bit, and unfinished for everybody until the last."""

import json
import subprocess
import sys

import pytest
import xarray as xr

import dcnbio
from dcnbio.commands.app import run

OPTIONS = ["--limit", "10", "--times", "3", "--blocks", "3", "--batch-size", "3", "--integration-time", "0.2"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def same(one, other):
    """Compare two recordings variable by variable."""
    one, other = dcnbio.open(one), dcnbio.open(other)
    for name in ("block3", "/"):
        xr.testing.assert_identical(one[name].to_dataset().drop_attrs(), other[name].to_dataset().drop_attrs())


def opened_as_is_said(capfd):
    """Open a recording as the last line of the report says."""
    line = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("in Python: "))
    found = {}
    exec(line.removeprefix("in Python: ").rpartition(";")[0], found)
    return found["tree"]


def test_shards_one_after_the_other_make_one_recording(capfd):
    assert run(["probe", *OPTIONS, "--out", "whole.zarr"]) == 0
    capfd.readouterr()
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--shard", "1/2", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["complete"], found["images"]) == (False, 6)
    with pytest.raises(dcnbio.DcnbioError, match="unfinished: 6 of 10"):
        dcnbio.open("parts.zarr")
    assert run(["info", "parts.zarr", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["done"] == 6
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--shard", "1/2"]) == 0  # nothing is left for it to do
    assert "2 of 2 batches are there" in capfd.readouterr().out
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--shard", "2/2", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["complete"]
    same("whole.zarr", "parts.zarr")
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--shard", "2/2"]) == 0  # and again, as it may be


def test_a_plain_resume_does_what_a_lost_shard_left(capfd):
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--shard", "2/3"]) == 0
    assert opened_as_is_said(capfd).sizes["stimulus"] == 3  # what is unfinished opens by the line that is printed
    assert run(["probe", *OPTIONS, "--out", "parts.zarr", "--resume"]) == 0
    assert opened_as_is_said(capfd).sizes["stimulus"] == 10
    assert dcnbio.open("parts.zarr").sizes["stimulus"] == 10


def test_two_launched_processes_equal_one_and_one_of_them_speaks(capfd):
    assert run(["probe", *OPTIONS, "--out", "whole.zarr"]) == 0
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    command += ["-m", "dcnbio", "probe", *OPTIONS, "--out", "both.zarr"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("accuracy") == 1
    assert done.stdout.count("shard 1 of 2") == 1
    assert "shard 2 of 2" not in done.stdout
    same("whole.zarr", "both.zarr")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--shard", "3/2"], "give i/n with i from 1 to n"),
        (["--shard", "half"], "give i/n with i from 1 to n"),
        (["--shard", "1/5"], "4 processes at most"),
        (["--shard", "1/2", "--overwrite"], "remove the old one first"),
        (["--shard", "1/2", "--out", "x.nc"], "netCDF"),
    ],
)
def test_what_several_processes_cannot_do_is_one_sentence(capfd, tmp_path, more, message):
    out = [] if "--out" in more else ["--out", "x.zarr"]
    assert run(["probe", *OPTIONS, *out, *more]) == 2
    err = capfd.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
