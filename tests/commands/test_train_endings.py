"""Every way a training run can end: one sentence, the documented exit status, no traceback, nothing lost."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from dcnbio.commands.app import run
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings

EULER = 'phases=[{method="euler", steps=1, gradient="exact"}]'
SET = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", EULER, "batch_size=4", "epochs=2"]
TINY = [part for setting in SET for part in ("--set", setting)]
COMMAND = ["train", "--images", "set.npz", "--out", "run", *TINY]
RESUME = ["train", "--images", "set.npz", "--out", "run", "--resume"]
OWN = {"run.json", "metrics.csv", "curves.png", "checkpoint.safetensors"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, threads = signal.getsignal(signal.SIGTERM), torch.get_num_threads()
    interrupt = signal.getsignal(signal.SIGINT)
    # a shell's background jobs begin with SIGINT ignored, and so would these tests there
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(1)  # networks this small are done before a second thread has woken up
    write_set("set.npz", np.arange(16) % 4)
    yield
    signal.signal(signal.SIGTERM, before)
    signal.signal(signal.SIGINT, interrupt)
    torch.set_num_threads(threads)


def write_set(name: str, labels: np.ndarray) -> None:
    random = np.random.default_rng(0)
    np.savez(name, images=random.integers(0, 255, (len(labels), 3, 32, 32), dtype=np.uint8), labels=labels)


def write_folder(path: Path, classes: dict[str, int]) -> None:
    """Make a folder of classes with so many images each."""
    random = np.random.default_rng(0)
    for name, n in classes.items():
        (path / name).mkdir(parents=True)
        for i in range(n):
            Image.fromarray(random.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(path / name / f"{i}.png")


def sentence(capfd, arguments: list[str], status: int) -> str:
    """Run a command that ends with a status; give its one sentence, all that it says beside its progress."""
    capfd.readouterr()
    assert run([str(argument) for argument in arguments]) == status
    out, err = capfd.readouterr()
    assert out == ""
    assert "Traceback" not in err
    lines = [line for line in err.replace("\r", "\n").splitlines() if line.strip() and not line.startswith("train:")]
    assert len(lines) == 1, err
    assert lines[0].startswith("dcnbio: ")
    return lines[0]


def contents(folder: str = "run") -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def weights() -> dict[str, torch.Tensor]:
    return load_file("run/checkpoint.safetensors")


def with_options(arguments: list[str]) -> list[str]:
    """Give the command with other options; one that may be given once takes the place of its own."""
    replaced = [name for name in ("--images", "--out") if name in arguments]
    # a run has one length
    usual = [*COMMAND[: COMMAND.index("epochs=2") - 1]] if "--minutes" in arguments else COMMAND
    kept = [part for i, part in enumerate(usual) if part not in replaced and (i == 0 or usual[i - 1] not in replaced)]
    return [*kept, *arguments]


REFUSED = {
    "no such images": (["--images", "absent"], "absent"),
    "no such test images": (["--test-images", "absent"], "absent"),
    "a cut archive": (["--images", "cut.tar.gz"], "cut.tar.gz"),
    "a broken npz": (["--images", "broken.npz"], "broken.npz"),
    "an archive of nothing": (["--images", "empty.npz"], "the source has no image to take"),
    "a folder of nothing": (["--images", "nothing"], "nothing"),
    "images without classes": (["--images", "flat"], "flat"),
    "a class without images": (
        ["--images", "gap.npz", "--held-out", "8"],
        "images of class 1 are asked for, but there are 0",
    ),
    "images of one class": (["--images", "one.npz"], "all 8 training images are of class 0"),
    "more classes than the network": (["--images", "many.npz"], "many.npz has labels from 0 to 11"),
    "more held out than there are": (["--held-out", "500"], "125 images of class 0 are asked for, but there are 4"),
    "all held out": (["--held-out", "16"], "no training image is left"),
    "more per class than there are": (["--per-class", "5"], "5 images of class 0 are asked for, but there are 4"),
    "a device of no kind": (["--device", "gpu"], "device is 'gpu', which this machine does not have; use cpu"),
    "a device that is absent": (["--device", "cuda"], "device is 'cuda', which this machine does not have"),
    "resume of nothing": (["--resume"], "holds no run to go on with"),
    "resume and overwrite": (["--resume", "--overwrite"], "resume and overwrite are both given"),
    "minutes that are none": (["--minutes", "nan"], "minutes is nan"),
    "minutes of nothing": (["--minutes", "0"], "minutes is 0"),
    "saves before now": (["--save-minutes", "-1"], "save_minutes is -1.0"),
    "a stop that is none": (["--stop-minutes", "nan"], "stop_minutes is nan"),
    "no such recipe": (["--recipe", "absent.toml"], "no such file, and the shipped ones are budget, "),
    "a recipe that is a folder": (["--recipe", "nothing"], "recipe nothing cannot be read"),
    "a recipe that is no TOML": (["--recipe", "words.toml"], "words.toml is no TOML"),
    "a recipe with flat parts": (["--recipe", "flat.toml"], "data is 3, but it has parts"),
    "an unknown setting": (["--set", "speed=3"], "no setting 'speed'"),
    "a setting without a value": (["--set", "speed"], "'speed' has no value"),
    "phases of no kind": (["--set", "phases=3"], "phases is 3; give a list of tables"),
    "a network of no kind": (["--set", "network=3"], "network is 3, but it has parts"),
    "an unknown part of the network": (["--set", "network.depths=3"], "depths"),
    "widths of no kind": (
        ["--set", "network.widths=wide"],
        "network.widths is 'wide'; it must be a list of",
    ),
    "norm groups of no kind": (["--set", "network.norm_groups=2.5"], "norm_groups is 2.5; it must be a whole number"),
    "half an epoch": (["--set", "epochs=1.5"], "epochs is 1.5; allowed are whole numbers"),
    "no epochs": (["--set", "epochs=0"], "epochs is 0"),
    "milestones of no kind": (["--set", 'milestones=["a"]'], "milestones is 'a'"),
    "a seed in parts": (["--set", "seed=0.5"], "seed is 0.5"),
    "a flip of no kind": (["--set", "flip=3"], "flip is 3; allowed are true and false"),
    "an unknown model": (["--model", "dcn"], "dcn"),
    "no such network to start from": (["--start", "2024"], "'2024'"),
    "no such encoder": (["--set", "task=reconstruction", "--set", "encoder=absent"], "'absent'"),
    "a folder that is a file": (["--out", "words.toml"], "words.toml"),
    "a folder inside a file": (["--out", "words.toml/run"], "words.toml/run"),
    "an unknown option": (["--foo", "3"], "--foo"),
    "a number that is none": (["--epochs", "many"], "--epochs"),
}


@pytest.fixture
def oddities(tmp_path):
    """Write what the refused commands name."""
    (tmp_path / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00 cut")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "nothing").mkdir()
    write_folder(tmp_path / "flat", {"": 2})
    write_set("empty.npz", np.arange(0))
    write_set("one.npz", np.zeros(8, np.int64))
    write_set("gap.npz", np.repeat([0, 2, 3], 4))
    write_set("many.npz", np.arange(12))
    (tmp_path / "words.toml").write_text("no TOML at all")
    (tmp_path / "flat.toml").write_text("data = 3")


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_trained_is_refused_and_nothing_is_written(oddities, capfd, monkeypatch, tmp_path, case):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    arguments, said = REFUSED[case]
    before = contents(".")
    assert said in sentence(capfd, with_options(arguments), 2)
    assert contents(".") == before
    assert not Path("run").exists()


def test_an_empty_class_folder_is_no_reason_to_fail(tmp_path, capfd):
    write_folder(tmp_path / "classes", {"bird": 4, "cat": 0, "dog": 4})
    status = run([*with_options(["--images", "classes"]), "--json"])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    if status == 0:
        assert json.loads(out)["passes"] == 16
    else:
        assert status == 2
        assert "cat" in err


def test_a_batch_larger_than_the_set_is_all_of_it(capfd):
    assert run([*COMMAND, "--set", "batch_size=500", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["passes"] == 32


def test_a_network_that_explodes_leaves_its_last_good_state(capfd, monkeypatch):
    import dcnbio.training.step as step_module

    with monkeypatch.context() as patch:
        patch.setattr(step_module, "learning_rate", lambda step, plan, chosen: 1e30 if step == 5 else 0.01)
        arguments = [*COMMAND, "--model", "resnet-blocks", "--save-minutes", "0"]
        said = sentence(capfd, arguments, 3)
    assert "training diverged in epoch 2: the largest weight of " in said
    assert "; try a lower learning_rate, clip_norm or sigma_ceiling. The last save is kept." in said
    assert all(float(value.abs().max()) < 100 for value in load_file("run/state.safetensors").values())
    assert run(RESUME) == 0
    assert set(os.listdir("run")) == OWN


def test_a_solver_that_gives_up_ends_the_run_and_is_named(capfd, monkeypatch):
    import dcnbio.training.step as step_module

    solver = SolverSettings(max_steps=1, rtol=1e-6, atol=1e-6, gradient="exact")
    with monkeypatch.context() as patch:
        patch.setattr(step_module, "phase_solver", lambda *given: solver)
        said = sentence(capfd, COMMAND, 3)
    assert "diverged in epoch 1: the solver gave up: limit on attempted steps reached in block 1" in said
    assert said.endswith("Nothing was saved yet.")
    assert not Path("run/state.safetensors").exists()
    assert run(RESUME) == 0


@pytest.mark.parametrize("name", ["state.safetensors", "checkpoint.safetensors", "run.json", "curves.png"])
def test_a_full_disk_ends_the_run_with_status_three_and_it_goes_on(capfd, monkeypatch, name):
    replace = os.replace

    def full(source, target, **more):
        if Path(target).name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        said = sentence(capfd, COMMAND, 3)
    assert f"{name} cannot be written" in said
    assert "No space left on device" in said
    assert not list(Path("run").glob(".*"))
    assert run(COMMAND if name == "run.json" else RESUME) == 0
    assert set(os.listdir("run")) == OWN


@pytest.fixture
def whole(capfd) -> dict[str, torch.Tensor]:
    """Weights of a run that nothing interrupted."""
    assert run(with_options(["--out", "whole"])) == 0
    capfd.readouterr()
    return load_file("whole/checkpoint.safetensors")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("when", ["in a step", "in the last look"])
def test_an_interrupted_run_says_how_to_go_on_and_does_to_the_same_bits(
    whole, capfd, monkeypatch, number, status, when
):
    import dcnbio.training.run as run_module
    import dcnbio.training.whole_run as whole_run

    def stopped_look(*arguments):
        signal.raise_signal(number)

    note = run_module.Run.note

    def stopped_note(self, report, seconds):
        note(self, report, seconds)
        if self.progress.step == 3:
            signal.raise_signal(number)

    with monkeypatch.context() as patch:
        if when == "in a step":
            patch.setattr(run_module.Run, "note", stopped_note)
        else:
            patch.setattr(whole_run, "final_figures", stopped_look)
        said = sentence(capfd, COMMAND, status)
    assert "run keeps what was saved last; go on with --out run --resume" in said
    assert run(RESUME) == 0
    assert all(torch.equal(value, weights()[key]) for key, value in whole.items())


def test_an_interruption_before_anything_is_saved_says_so(capfd, monkeypatch):
    import dcnbio.training.images as images_module

    monkeypatch.setattr(images_module, "read_images", lambda *given, **more: signal.raise_signal(signal.SIGINT))
    assert sentence(capfd, COMMAND, 130) == "dcnbio: interrupted; nothing was saved yet"


@pytest.fixture
def begun(capfd):
    """A run that was stopped after its first step."""
    assert run([*COMMAND, "--stop-minutes", "0"]) == 0
    assert capfd.readouterr().out == "stopped before the end; go on with --out run --resume\n"


def test_a_run_goes_on_on_a_device_that_is_there_alone(begun, capfd, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    before = contents()
    assert "device is 'cuda:1', which this machine does not have" in sentence(capfd, [*RESUME, "--device", "cuda:1"], 2)
    assert contents() == before
    assert run(RESUME) == 0


def test_a_run_that_is_there_is_neither_begun_anew_nor_gone_on_with_as_another(begun, capfd):
    write_set("other.npz", np.arange(16) % 3)
    before = contents()
    assert "holds a run already (run.json, state.safetensors)" in sentence(capfd, COMMAND, 2)
    assert "was begun with other images" in sentence(
        capfd, ["train", "--images", "other.npz", "--out", "run", "--resume"], 2
    )
    assert "has another recipe (seed differ)" in sentence(capfd, [*COMMAND, "--resume", "--seed", "7"], 2)
    assert contents() == before


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"recipe": 3}', b'{"recipe": {}}', b"\xff\xfe"])
def test_a_damaged_record_is_refused_and_left_as_it_is(begun, capfd, damage):
    Path("run/run.json").write_bytes(damage)
    before = contents()
    said = sentence(capfd, RESUME, 2)
    assert "holds no run to go on with" in said or "was begun with other images (not recorded)" in said
    assert contents() == before


def test_a_damaged_state_is_refused_and_left_as_it_is(begun, capfd):
    Path("run/state.safetensors").write_bytes(b"damaged")
    before = contents()
    assert "state.safetensors is no state of this run" in sentence(capfd, RESUME, 2)
    assert contents() == before


@pytest.mark.parametrize("text", ["", "ste", "step,epoch\n1,"])
def test_metrics_that_a_full_disk_cut_do_not_stop_a_run(begun, text):
    Path("run/metrics.csv").write_text(text)
    assert run(RESUME) == 0
    with open("run/metrics.csv", newline="") as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["1", "2"]


def decoder_command() -> list[str]:
    save_checkpoint(build("dcn-ode", 0, widths=(4, 4, 8), norm_groups=4, integration_time=0.1), "net.safetensors")
    settings = ["task=reconstruction", "encoder=net.safetensors", EULER, "batch_size=4", "epochs=2", "held_out=8"]
    more = [part for setting in [*settings, "translate=0"] for part in ("--set", setting)]
    return ["train", "--images", "set.npz", "--out", "run", *more]


def test_a_decoder_has_its_error_in_place_of_an_accuracy(capfd):
    assert run(decoder_command()) == 0
    out, err = capfd.readouterr()
    with open("run/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert not [name for name in rows[0] if "accuracy" in name or "loss" in name]
    last = rows[-1]
    own, held = float(last["held_out_mse_training_solver"]), float(last["held_out_mse"])
    assert float(last["solver_gap"]) == pytest.approx(held - own, abs=1e-12)
    assert last["held_out_failed"] == "0"
    assert "held out  mean square error" in out
    assert f"held out {held:.5f} with dopri5, {own:.5f} with the training solver" in err
    assert f"epoch 2, mean square error {float(last['mse']):.5f}, NFE" in err
    assert " %" not in err.replace("%|", "|")
    assert json.loads(Path("run/run.json").read_text())["metrics"]["held_out_mse"] == pytest.approx(held, rel=1e-5)
    with Image.open("run/curves.png") as curves:
        assert curves.size[0] == round(7.5 * 192)


def test_curves_of_a_decoder_have_its_error_in_them(capfd):
    from dcnbio.figures.training_curves import training_curves_caption, training_curves_table
    from dcnbio.figures.training_run import read_run

    assert run([*decoder_command(), "--json"]) == 0
    found = read_run("run")
    table = training_curves_table(found)
    assert next(iter(dict.fromkeys(table["panel"]))) == "mse"
    assert not {"loss", "accuracy"} & set(table["panel"])
    assert "Training mean square errors (RGB in [0, 1]) are means" in training_curves_caption(found)


def test_rows_are_added_to_a_table_that_an_earlier_version_began(begun):
    Path("run/metrics.csv").write_text("step,epoch,passes,solver,extra\n1,1,4,euler,7\n")
    assert run(RESUME) == 0
    with open("run/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["extra"] for row in rows] == ["7", "", ""]
    assert [row["accuracy"] != "" for row in rows] == [False, True, True]


def test_the_folder_of_an_unfinished_run_is_a_name_for_its_checkpoint(capfd, monkeypatch):
    import dcnbio.training.whole_run as whole_run

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(whole_run, "final_figures", stop)
        assert run(COMMAND) == 130
    capfd.readouterr()
    assert {"checkpoint.safetensors", "state.safetensors"} < set(os.listdir("run"))
    assert not json.loads(Path("run/run.json").read_text())["finished"]
    assert run(["evaluate", "--checkpoint", "run", "--images", "set.npz", "--json"]) == 0
    capfd.readouterr()
    assert run(["info", "run", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["file"] == "run/checkpoint.safetensors"


def test_a_folder_with_a_state_alone_is_no_checkpoint(begun, capfd):
    said = sentence(capfd, ["evaluate", "--checkpoint", "run"], 2)
    assert "run is a folder without a checkpoint" in said


def test_info_says_what_a_state_is(begun, capfd):
    assert run(["info", "run/state.safetensors"]) == 0
    out = capfd.readouterr().out
    assert "a training run that is not finished: weights and momentum after 1 steps" in out
    assert "dcnbio train --resume --out run" in out
    assert run(["info", "run/state.safetensors", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["kind"], found["step"]) == ("state of a training run", 1)
