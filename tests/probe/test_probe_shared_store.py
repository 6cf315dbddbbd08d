"""Two jobs at one store: a second one like the first does no harm and says so; one of other images is refused."""

import shutil
import time
from pathlib import Path

import pytest
import xarray as xr

import dcnbio
from dcnbio.commands.app import run
from dcnbio.probe import streaming
from dcnbio.recording import describe
from dcnbio.recording.journal import Journal

OPTIONS = ["--limit", "6", "--times", "2", "--blocks", "3", "--batch-size", "2", "--integration-time", "0.1"]
PROBE = ["probe", *OPTIONS, "--out", "run.zarr"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def wait_for_a_batch(seconds=60):
    """Wait until the first batch is written: it is while the second is solved, so either may be done first."""
    end = time.monotonic() + seconds
    journal = Journal(Path("run.zarr"))
    while not (journal.exists() and list(journal.indices())):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def meanwhile(monkeypatch):
    """Have something happen while a job works, after its first batch."""

    def during(happens):
        batches = streaming.run_batches

        def stalling(job, done=frozenset()):
            monkeypatch.setattr(streaming, "run_batches", batches)
            for number, batch in enumerate(batches(job, done)):
                if number == 1:
                    wait_for_a_batch()
                    happens()
                yield batch

        monkeypatch.setattr(streaming, "run_batches", stalling)

    return during


@pytest.mark.parametrize("more", [["--resume"], ["--shard", "1/1"]])
def test_a_second_job_like_the_first_ends_well_and_says_so(capfd, meanwhile, more):
    meanwhile(lambda: run([*PROBE, "--resume"]))
    assert run([*PROBE, *more]) == 0
    said = capfd.readouterr()
    assert "run.zarr is complete: another process recorded the same batches and finished it" in said.out + said.err
    tree = dcnbio.open("run.zarr", verify=True)
    assert run(["probe", *OPTIONS, "--out", "alone.zarr"]) == 0
    alone = dcnbio.open("alone.zarr")
    for name in ("block3", "/"):
        xr.testing.assert_identical(tree[name].to_dataset().drop_attrs(), alone[name].to_dataset().drop_attrs())


def test_a_job_of_other_images_cannot_replace_one_that_is_at_work(capfd, meanwhile):
    ends = []
    meanwhile(lambda: ends.append(run([*PROBE, "--mask", "14", "--overwrite"])))
    assert run(PROBE) == 0
    assert ends == [2]
    assert "run.zarr is being recorded by another process" in capfd.readouterr().err
    assert dcnbio.open("run.zarr", verify=True).sizes["stimulus"] == 6


def test_a_job_whose_store_was_removed_and_begun_anew_stops(capfd, meanwhile):
    def replace():
        shutil.rmtree("run.zarr")
        assert run([*PROBE, "--mask", "14"]) == 0

    meanwhile(replace)
    assert run(PROBE) == 2
    assert "run.zarr is another recording by now: another process replaced" in capfd.readouterr().err
    assert describe("run.zarr", verify=True)["provenance"]["mask"] == 14
