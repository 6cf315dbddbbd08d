"""The command line as a stranger meets it: exit status, one plain sentence, nothing written on a refusal."""

import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dcnbio.commands.app import run
from dcnbio.images import shipped

CHECKPOINT = "checkpoints/dcn-ode.safetensors"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def refused(capfd, *arguments):
    """Run a command that is to be refused; give its sentence."""
    capfd.readouterr()
    assert run([str(a) for a in arguments]) == 2
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
    lines = [line for line in err.splitlines() if line.strip()]
    assert len(lines) == 1, err
    return lines[0]


def test_probe_without_more_than_a_limit_writes_a_file_that_opens(capfd, tmp_path):
    assert run(["probe", "--limit", "10", "--times", "3"]) == 0
    said = capfd.readouterr().out
    assert "NFE per image" in said
    assert "accuracy" in said
    assert all(len(line) <= 140 for line in said.splitlines())
    import dcnbio

    tree = dcnbio.open("dcn-ode.zarr")
    assert tree["block1"]["h"].sizes["stimulus"] == 10
    assert run(["info", "dcn-ode.zarr", "--json"]) == 0
    about = json.loads(capfd.readouterr().out)
    assert (about["complete"], about["done"], about["total"]) == (True, 10, 10)


def test_a_second_run_onto_the_same_file_is_refused_and_changes_nothing(capfd, tmp_path):
    arguments = ["probe", "--limit", "10", "--times", "2", "--blocks", "3", "--out", "run.zarr"]
    assert run(arguments) == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    capfd.readouterr()
    assert "--overwrite" in refused(capfd, *arguments)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    assert run([*arguments, "--overwrite"]) == 0


def test_json_is_one_object_and_nothing_else(capfd):
    assert run(["probe", "--limit", "10", "--times", "2", "--blocks", "3", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["images"] == 10
    assert found["blocks"]["block3"]["shape"] == [2, 128, 7, 7]
    assert run(["evaluate", "--limit", "10", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert {"accuracy", "n", "interval", "nfe"} <= set(found)
    assert run(["info", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["spec"]["row"] == "dcn-ode"


def test_images_that_fail_give_status_three_and_are_named(capfd):
    assert run(["probe", "--limit", "10", "--times", "2", "--max-steps", "2", "--out", "run.zarr"]) == 3
    err = capfd.readouterr().err
    assert err.count("failed: stimulus") == 10
    assert err.count("limit on attempted steps reached in block1") == 10
    assert err.count("give more steps (--max-steps) or looser tolerances") == 1
    assert "Traceback" not in err
    import dcnbio

    tree = dcnbio.open("run.zarr")
    assert (tree["block1"]["status"].values != 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["probe", "--foo", "3"], "--foo"),
        (["probe", "--limit", "many"], "--limit"),
        (["probe", "--limit", "0"], "limit"),
        (["probe", "--blocks", "4"], "blocks 1 to 3"),
        (["probe", "--times", "x"], "--times"),
        (["probe", "--stepping", "each"], "stepping"),
        (["probe", "--integration-time", "4:1"], "blocks are 1 to 3"),
        (["probe", "--rtol", "0"], "rtol"),
        (["probe", "--method", "rk4"], "step_size"),
        (["probe", "--images", "no-such-folder"], "no-such-folder"),
        (["probe", "--checkpoint", "no-such-file"], "no-such-file"),
        (["probe", "--times", "100000"], "--yes"),
        (["evaluate", "--checkpoint", "no-such-file"], "no-such-file"),
        (["info", "no-such-file"], "no-such-file"),
        (["import", "no-such-file.pth", "out.safetensors", "--model", "dcn-ode"], "no-such-file"),
        (["sing"], "sing"),
    ],
)
def test_usage_and_input_errors_are_one_sentence_and_write_nothing(capfd, tmp_path, arguments, message):
    assert message in refused(capfd, *arguments)
    assert list(tmp_path.iterdir()) == []


def foreign_files(folder):
    """Make files that are no checkpoints, with what each is to be called."""
    whole = shipped(CHECKPOINT).read_bytes()
    content = {
        "empty.safetensors": b"",
        "cut.safetensors": whole[: len(whole) // 2],
        "empty.pth": b"",
        "text.pth": b"not a checkpoint at all",
        "pointer.pth": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "code.pth": pickle.dumps(print),
    }
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return sorted(content)


def test_damaged_and_foreign_checkpoints_are_refused(capfd, tmp_path):
    for name in foreign_files(tmp_path):
        said = refused(capfd, "probe", "--checkpoint", name, "--model", "dcn-ode", "--out", "x.zarr")
        assert name in said
        assert "not a readable checkpoint" in said
    assert not (tmp_path / "x.zarr").exists()


def test_empty_folders_and_broken_images_are_named(capfd, tmp_path):
    (tmp_path / "none").mkdir()
    assert "none" in refused(capfd, "probe", "--images", "none")
    (tmp_path / "some").mkdir()
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "some" / "good.png")
    (tmp_path / "some" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "some" / "worse.jpg").write_text("no image")
    said = refused(capfd, "probe", "--images", "some")
    assert "bad.png" in said
    assert "worse.jpg" in said
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(tmp_path / "large.png")
    assert "--resize" in refused(capfd, "probe", "--images", "large.png")
    assert run(["probe", "--images", "large.png", "--resize", "--times", "2", "--blocks", "3"]) == 0


def test_an_assumed_time_is_said_and_can_be_set(capfd, tmp_path):
    reference = Path(__file__).parents[1] / "reference" / "dcn_ode.pth"
    assert run(["import", str(reference), "net.safetensors", "--model", "dcn-ode"]) == 0
    assert "T = 2, 2, 2" in capfd.readouterr().out
    options = ["--limit", "10", "--times", "2", "--blocks", "1", "--integration-time", "1:0.5"]
    assert run(["probe", "--checkpoint", "net.safetensors", *options]) == 0
    import dcnbio

    assert dcnbio.open("net.zarr")["block1"]["time"].values.tolist() == [0.0, 0.5]
    assert "exists already" in refused(capfd, "import", reference, "net.safetensors", "--model", "dcn-ode")


def start(*arguments):
    """Start a probe in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "dcnbio", "probe", *arguments]
    # a test runner in the background may ignore SIGINT, and its children would inherit that
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_a_batch(path, process):
    """Wait until one batch is finished."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if any((path / ".journal").glob("*.npz")) if (path / ".journal").is_dir() else False:
            return
        time.sleep(0.02)
    pytest.fail("no batch was finished in time")


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_interrupted_run_keeps_what_is_finished_and_goes_on(capfd, tmp_path, sent, status):
    options = ["--limit", "100", "--times", "5", "--blocks", "1", "--batch-size", "1", "--integration-time", "1:0.5"]
    with start(*options, "--out", "cut.zarr") as process:
        wait_for_a_batch(tmp_path / "cut.zarr", process)
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    import dcnbio

    with pytest.raises(dcnbio.DcnbioError, match="unfinished"):
        dcnbio.open("cut.zarr")
    assert run(["info", "cut.zarr", "--json"]) == 0
    done = json.loads(capfd.readouterr().out)["done"]
    assert 0 < done < 100
    assert run(["probe", *options, "--out", "cut.zarr", "--resume"]) == 0
    assert run(["probe", *options, "--out", "whole.zarr"]) == 0
    cut, whole = dcnbio.open("cut.zarr"), dcnbio.open("whole.zarr")
    np.testing.assert_array_equal(cut["block1"]["h"], whole["block1"]["h"])
    np.testing.assert_array_equal(cut["logits"], whole["logits"])


def test_cite_prints_the_paper(capfd):
    assert run(["cite"]) == 0
    said = capfd.readouterr().out
    assert "Deep Continuous Networks" in said
    assert said.count("{") == said.count("}")
    entries = said.split("\n@")
    assert len(entries) == 6
    for entry in entries[1:]:
        assert "doi " in entry or "url " in entry, entry


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["evaluate", "ode-net"], "dcnbio evaluate takes no 'ode-net' alone; a value follows the name of its option"),
        (["evaluate", "--nope", "3"], "Unknown option: --nope."),
        (["analyze", "completion", "--nope"], "Unknown option: --nope."),
    ],
)
def test_what_a_command_does_not_take_is_refused_with_its_own_help(capfd, asked, said):
    sentence = refused(capfd, *asked)
    named = " ".join(word for word in asked if word.isalpha())
    assert sentence.startswith(f"dcnbio: {said}")
    assert sentence.endswith(f"(see dcnbio {named} --help)")
