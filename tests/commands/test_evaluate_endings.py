"""Every way an evaluation can end: one sentence, the documented exit status, no traceback."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from dcnbio.commands.app import run
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.network import build

COMMAND = ["evaluate", "--checkpoint", "net.safetensors"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, interrupt = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    # a shell's background jobs begin with SIGINT ignored, and so would these tests there
    signal.signal(signal.SIGINT, signal.default_int_handler)
    save_checkpoint(build("dcn-ode", 0, widths=(4,), norm_groups=4, integration_time=0.1), "net.safetensors")
    random = np.random.default_rng(0)
    for name in ("apple", "pear"):
        (tmp_path / "two" / name).mkdir(parents=True)
        Image.fromarray(random.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(tmp_path / "two" / name / "a.png")
    (tmp_path / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00 cut")
    yield
    signal.signal(signal.SIGTERM, before)
    signal.signal(signal.SIGINT, interrupt)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--images", "absent"], "absent"),
        (["--images", "cut.tar.gz"], "cut.tar.gz"),
        (["--images", "two"], "have no labels of the network's 10 classes"),
        (["--device", "gpu"], "device is 'gpu', which this machine does not have"),
        (["--device", "cuda"], "device is 'cuda', which this machine does not have"),
        (["--batch-size", "0"], "batch"),
        (["--limit", "-3"], "limit"),
        (["--rtol", "-1"], "rtol"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(capfd, monkeypatch, arguments, said):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    before = sorted(Path().rglob("*"))
    assert run([*COMMAND, *arguments]) == 2
    _, err = capfd.readouterr()
    (line,) = [line for line in err.splitlines() if line.strip()]
    assert line.startswith("dcnbio: ")
    assert said in line
    assert sorted(Path().rglob("*")) == before


def test_a_batch_larger_than_the_set_is_all_of_it(capfd):
    assert run([*COMMAND, "--limit", "10", "--batch-size", "500", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["n"] == 10


@pytest.mark.parametrize(
    ("options", "per"),
    [
        ([], "batch"),
        (["--batch-size", "5"], "batch"),
        (["--rtol", "1e-4", "--atol", "1e-4"], "batch"),
        (["--dtype", "float64"], "batch"),
        (["--rtol", "1e-4", "--stepping", "per-image"], "image"),
    ],
)
def test_steps_are_shared_as_in_the_paper_whatever_else_is_asked_for(capfd, options, per):
    assert run([*COMMAND, "--limit", "10", "--json", *options]) == 0
    assert json.loads(capfd.readouterr().out)["nfe_per"] == per


def test_what_only_a_recording_has_is_no_option(capfd):
    assert run([*COMMAND, "--error-sample", "2"]) == 2
    assert "--error-sample" in capfd.readouterr().err


def test_images_that_are_not_solved_give_status_three_and_count_as_wrong(capfd):
    assert run([*COMMAND, "--limit", "10", "--max-steps", "1", "--rtol", "1e-6", "--atol", "1e-6", "--json"]) == 3
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert (found["accuracy"], found["n"], len(found["failed"])) == (0.0, 10, 10)
    assert "Traceback" not in err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_is_one_word(capfd, monkeypatch, number, status):
    import dcnbio.probe

    monkeypatch.setattr(dcnbio.probe, "evaluate", lambda *given, **more: signal.raise_signal(number))
    assert run([*COMMAND, "--limit", "10"]) == status
    assert capfd.readouterr().err in ("dcnbio: interrupted\n", "dcnbio: terminated\n")


def test_a_name_that_is_empty_is_refused(capfd):
    assert run(["evaluate", "--checkpoint", ""]) == 2
    assert "Invalid value for --checkpoint: '' is empty, as of an unset shell variable" in capfd.readouterr().err
