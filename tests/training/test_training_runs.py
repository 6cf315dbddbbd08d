"""A run learns, goes on where it stopped with the same bits, and ends with a sentence when it goes wrong."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from dcnbio.errors import InputError, SolverError
from dcnbio.model.adjoint import BackwardSolve
from dcnbio.model.checkpoint import load_checkpoint, read_header
from dcnbio.model.convolution_precision import convolution_type
from dcnbio.training import RunOptions, train, with_settings
from dcnbio.training.atomic_file import SaveError
from dcnbio.training.divergence import DivergenceError
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.recipe import Recipe
from dcnbio.training.recipe_parts import Phase

ROOT = Path(__file__).parents[2]
EXACT = 'phases=[{gradient="exact"}]'
SMALL = [
    EXACT,
    "network.widths=[4, 8]",
    "network.norm_groups=4",
    "network.integration_time=0.5",
    "batch_size=16",
    "translate=1",
]
COARSE = 'phases=[{until=0.5, method="midpoint", steps=2, jitter=0.5, gradient="exact"}, {gradient="exact"}]'


@pytest.fixture(autouse=True)
def _one_thread():
    # networks this small are done before a second thread has woken up
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def coloured(n: int, seed: int = 0, side: int = 12) -> LabelledImages:
    """Make images of four classes that differ in the colour of a noisy patch."""
    random = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    images = random.integers(0, 120, (n, 3, side, side), dtype=np.uint8)
    middle = slice(side // 4, 3 * side // 4)
    for i, label in enumerate(labels):
        images[i, label % 3, middle, middle] += 130 if label < 3 else 0
    return LabelledImages(images, labels.astype(np.int64))


def some_images(n: int = 64, side: int = 12) -> TrainingImages:
    train, test = coloured(n, side=side), coloured(32, seed=1, side=side)
    return TrainingImages(train, test, "made", {"train": f"a{n}", "test": "b"})


def small_recipe(*settings: str) -> Recipe:
    return with_settings(Recipe(), [*SMALL, *settings])


def rows(folder: Path) -> list[dict[str, str]]:
    with open(folder / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_learns_and_records_what_it_did(tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.training.final_figures.TOLERANCE_IMAGES", 8)
    settings = ["epochs=8", "held_out=16", COARSE, "learning_rate=0.1", "schedule=one-cycle"]
    figures = train(small_recipe(*settings), some_images(112), RunOptions(tmp_path, command="the command"))
    found = rows(tmp_path)
    assert [int(row["epoch"]) for row in found] == list(range(1, 9))
    assert [row["solver"].split()[0] for row in found] == ["midpoint"] * 4 + ["dopri5"] * 4
    assert float(found[-1]["loss"]) < 0.7 * float(found[0]["loss"])
    assert found[0]["nfe_forward"] == "8.0"
    assert found[0]["nfe_backward"] == "8.0"
    assert float(found[0]["log2_sigma/blocks.0.field.conv1"]) != float(found[-1]["log2_sigma/blocks.0.field.conv1"])
    header = read_header(tmp_path / "checkpoint.safetensors")
    assert header.metrics == figures
    assert header.metrics["test_n"] == 32
    assert header.metrics["held_out_n"] == 16
    low, high = header.metrics["test_interval"]
    assert low <= header.metrics["test_accuracy"] <= high
    assert header.metrics["test_accuracy"] > 0.5
    assert set(header.metrics["held_out_by_tolerance"]) == {"0.01", "0.001", "0.0001", "1e-05", "1e-06"}
    assert all(found["n"] == 8 for found in header.metrics["held_out_by_tolerance"].values())
    assert header.recipe["optimisation"]["epochs"] == 8
    assert header.recipe["command"] == "the command"
    assert not (tmp_path / "state.safetensors").exists()
    again = load_checkpoint(tmp_path / "checkpoint.safetensors")
    initial = header.initial_log2_sigma["blocks.0.field.conv1"]
    assert again.block(1).field.conv1.log2_sigma.offset.tolist() != initial


def test_the_accuracy_in_the_header_is_that_of_the_checkpoint(tmp_path):
    images = some_images()
    figures = train(small_recipe("epochs=1"), images, RunOptions(tmp_path))
    net = load_checkpoint(tmp_path / "checkpoint.safetensors")
    pixels, labels = images.test.tensors(torch.float32, "cpu")
    with torch.no_grad():
        right = int((net(pixels).argmax(1) == labels).sum())
    assert figures["test_accuracy"] == right / 32


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from test_training_runs import COARSE, RunOptions, small_recipe, some_images, train
from pathlib import Path
{before}
def show(figures):
    if figures.get("total_steps"):
        print(figures["step"], flush=True)
train({recipe}, some_images(), RunOptions(Path({out!r}), save_minutes=0.0, resume={resume}), show)
"""
LONG = 'small_recipe("epochs=6", "seed=3", "held_out=8", COARSE)'


def started(out: Path, made: str = LONG, before: str = "", resume: bool = False) -> subprocess.Popen[str]:
    script = SCRIPT.format(here=str(Path(__file__).parent), recipe=made, out=str(out), before=before, resume=resume)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # a shell that runs the tests in the background has its children ignore interruptions
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_step(process: subprocess.Popen[str], step: int) -> None:
    for line in process.stdout:
        if int(line) >= step:
            return
    raise RuntimeError(process.stderr.read())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("whole")
    train(small_recipe("epochs=6", "seed=3", "held_out=8", COARSE), some_images(), RunOptions(out))
    return out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_goes_on_to_the_same_bits(uninterrupted, tmp_path, number):
    process = started(tmp_path)
    # three batches of 16 make an epoch: the eighth step is inside the third
    wait_for_step(process, 8)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode in (-number, 1, 130)
    assert (tmp_path / "state.safetensors").exists()
    reached = json.loads(state_header(tmp_path))["step"]
    assert 7 <= reached < 18
    figures = train(None, some_images(), RunOptions(tmp_path, resume=True))
    assert figures["passes"] == 18 * 16
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    timed = {"seconds", "images_per_second"}
    for one, other in zip(rows(uninterrupted), rows(tmp_path), strict=True):
        assert {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}


def state_header(folder: Path) -> str:
    from safetensors import safe_open

    with safe_open(folder / "state.safetensors", framework="pt") as file:
        return file.metadata()["progress"]


def test_a_full_disk_ends_the_run_and_keeps_the_last_save(uninterrupted, tmp_path):
    before = """
    import resource, signal
    import dcnbio.training.run as run
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    save = run.Run.save
    def full_after_eight(self):
        if self.progress.step >= 8:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        save(self)
    run.Run.save = full_after_eight
    """
    process = started(tmp_path, before=textwrap.dedent(before))
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "SaveError" in error
    assert "cannot be written (File too large); what was saved before is kept" in error
    assert json.loads(state_header(tmp_path))["step"] == 7
    assert not list(tmp_path.glob(".state*"))
    train(None, some_images(), RunOptions(tmp_path, resume=True))
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_pieces_of_time_add_up_to_the_same_run(uninterrupted, tmp_path):
    made, pieces = small_recipe("epochs=6", "seed=3", "held_out=8", COARSE), 0
    figures = train(made, some_images(), RunOptions(tmp_path, stop_minutes=0.0))
    while figures is None:
        pieces += 1
        figures = train(None, some_images(), RunOptions(tmp_path, resume=True, stop_minutes=0.0))
    assert pieces == 18
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


@pytest.mark.parametrize("saved", [True, False])
def test_a_run_that_goes_on_keeps_the_command_it_was_begun_with(tmp_path, saved):
    train(small_recipe("epochs=1"), some_images(), RunOptions(tmp_path, stop_minutes=0.0, command="train --epochs 1"))
    if not saved:
        (tmp_path / "state.safetensors").unlink()
    train(None, some_images(), RunOptions(tmp_path, resume=True, stop_minutes=0.0, command="train --resume"))
    assert json.loads((tmp_path / "run.json").read_text())["command"] == "train --epochs 1"
    train(None, some_images(), RunOptions(tmp_path, resume=True, command="train --resume"))
    assert json.loads((tmp_path / "run.json").read_text())["command"] == "train --epochs 1"
    assert read_header(tmp_path / "checkpoint.safetensors").recipe["command"] == "train --epochs 1"


def test_resuming_asks_for_the_same_recipe_and_images(tmp_path):
    with pytest.raises(InputError, match="holds no run to go on with"):
        train(None, some_images(), RunOptions(tmp_path, resume=True))
    train(small_recipe("epochs=2"), some_images(), RunOptions(tmp_path, stop_minutes=0.0))
    with pytest.raises(InputError, match=r"has another recipe \(optimisation differ\)"):
        train(small_recipe("epochs=3"), some_images(), RunOptions(tmp_path, resume=True))
    with pytest.raises(InputError, match="was begun with other images"):
        train(None, some_images(48), RunOptions(tmp_path, resume=True))
    with pytest.raises(InputError, match="holds a run already"):
        train(small_recipe("epochs=2"), some_images(), RunOptions(tmp_path))
    (tmp_path / "state.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match="is no state of this run"):
        train(None, some_images(), RunOptions(tmp_path, resume=True))


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    figures = train(small_recipe("epochs=1"), some_images(), RunOptions(tmp_path))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir() if path.is_file()}
    seen: list[object] = []
    again = train(None, some_images(), RunOptions(tmp_path, resume=True), seen.append)
    assert again == json.loads(json.dumps(figures))
    assert seen == []
    assert before == {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p.is_file()}
    with pytest.raises(InputError, match="was begun with other images"):
        train(None, some_images(48), RunOptions(tmp_path, resume=True))


def test_overwriting_begins_anew(tmp_path):
    train(small_recipe("epochs=1"), some_images(), RunOptions(tmp_path))
    train(small_recipe("epochs=2"), some_images(), RunOptions(tmp_path, overwrite=True))
    assert len(rows(tmp_path)) == 2


def test_scales_that_run_away_end_the_run_naming_layer_and_epoch(tmp_path):
    made = small_recipe("epochs=3", "guards.sigma_most=1.0", "initial_sigma=constant", "learning_rate=0.5")
    with pytest.raises(DivergenceError, match=r"diverged in epoch 1: sigma of blocks\.\d\.field\.conv\d is .* pixels"):
        train(made, some_images(), RunOptions(tmp_path))


def test_a_loss_that_explodes_ends_the_run_and_the_last_save_is_kept(tmp_path, monkeypatch):
    import dcnbio.training.step as step_module

    monkeypatch.setattr(step_module, "learning_rate", lambda step, plan, chosen: 1e30 if step == 5 else 0.01)
    made = small_recipe("epochs=4", "sigma_most=1e30", "sigma_least=0")
    with pytest.raises(DivergenceError, match=r"diverged in epoch 2: .*(block|readout|gradient|sigma of)"):
        train(made, some_images(), RunOptions(tmp_path, save_minutes=0.0))
    assert json.loads(state_header(tmp_path))["step"] == 5
    state = load_file(tmp_path / "state.safetensors")
    assert all(float(value.abs().max()) < 100 for value in state.values())


def test_a_ceiling_holds_the_scales(tmp_path):
    made = small_recipe("epochs=2", "guards.sigma_ceiling=1.0", "learning_rate=0.2", "model=dcn-sigma-t")
    train(made, some_images(), RunOptions(tmp_path))
    net = load_checkpoint(tmp_path / "checkpoint.safetensors")
    for block in net.blocks:
        for conv in block.field.convs:
            for time in (0.0, 1.0, 2.0):
                assert float(conv.sigma(torch.tensor(time)).detach()) <= 1.0 + 1e-6


def test_the_gap_between_solvers_ends_a_phase_early(tmp_path, monkeypatch):
    import dcnbio.training.run as run_module
    from dcnbio.training.measure import Measured

    def pretended(objective, images, processes, solver=None):
        right = 8 if solver is not None and solver.step_size is not None else 4
        return Measured(8, right, 0, 1.0, (1.0, 1.0))

    monkeypatch.setattr(run_module, "measure", pretended)
    made = small_recipe("epochs=4", "held_out=8", "guards.gap_limit=0.1", COARSE.replace("0.5, m", "0.9, m"))
    train(made, some_images(), RunOptions(tmp_path))
    assert [row["solver"].split()[0] for row in rows(tmp_path)] == ["midpoint", "dopri5", "dopri5", "dopri5"]


def test_adjoint_and_exact_gradients_train_alike(tmp_path):
    made = small_recipe("epochs=4", "learning_rate=0.02", "momentum=0.5", "network.widths=[4]")
    losses = []
    for gradient in ("adjoint", "exact"):
        phase = Phase(gradient=gradient, rtol=1e-4, atol=1e-4)
        train(replace(made, phases=(phase,)), some_images(), RunOptions(tmp_path / gradient))
        losses.append([float(row["loss"]) for row in rows(tmp_path / gradient)])
    assert losses[1][-1] < losses[1][0] - 0.05
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)


def test_an_adjoint_that_cannot_be_solved_ends_a_run_in_a_sentence_with_block_and_epoch(tmp_path, monkeypatch):
    solved = BackwardSolve.check

    def limited(self, s, ds, attempts):
        if self.layout.maps[1] == 4:  # the first block's channels; the second, gone back over before it, is solved
            raise SolverError("the adjoint equation could not be solved back past t = 1.5.")
        solved(self, s, ds, attempts)

    monkeypatch.setattr(BackwardSolve, "check", limited)
    made = small_recipe("epochs=1", "network.widths=[4, 8]", "network.norm_groups=4")
    with pytest.raises(
        DivergenceError, match=r"epoch 1: in block 1, the adjoint .* past t = 1\.5; the last save is kept"
    ):
        train(replace(made, phases=(Phase(gradient="adjoint"),)), some_images(), RunOptions(tmp_path))


@pytest.mark.parametrize("row", ["resnet-blocks", "ode-net"])
def test_convolutions_in_bfloat16_train_as_those_in_float32_do(tmp_path, row):
    losses = []
    for kind in ("float32", "bfloat16"):
        phases = f'phases=[{{method="midpoint", steps=2, gradient="exact", convolutions="{kind}"}}]'
        made = small_recipe("epochs=4", "learning_rate=0.02", "momentum=0.5", f"model={row}", phases)
        train(made, some_images(), RunOptions(tmp_path / kind))
        losses.append([float(row["loss"]) for row in rows(tmp_path / kind)])
    assert losses[1][-1] < losses[1][0] - 0.05
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)
    assert losses[0] != losses[1]
    assert rows(tmp_path / "bfloat16")[0]["solver"] == "midpoint x 2 exact bfloat16"
    # what is kept is in full precision, and so is every measurement of it
    assert {value.dtype for value in load_file(tmp_path / "bfloat16" / "checkpoint.safetensors").values()} == {
        torch.float32
    }
    assert convolution_type() is None


@pytest.mark.parametrize("row", ["resnet-srf-full", "ode-net", "dcn-sigma-ji"])
def test_every_kind_of_row_can_be_trained(tmp_path, row):
    figures = train(small_recipe("epochs=1", f"model={row}"), some_images(32), RunOptions(tmp_path))
    assert figures["passes"] == 32
    assert (tmp_path / "log2_sigma" / "step_00000000.npz").exists() == (row == "dcn-sigma-ji")


def test_a_decoder_is_trained_on_an_encoder_that_stays(tmp_path):
    from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint

    three = small_recipe("epochs=1", "network.widths=[4, 4, 8]", 'phases=[{method="euler", steps=1, gradient="exact"}]')
    train(three, some_images(32, 32), RunOptions(tmp_path / "net"))
    encoder = tmp_path / "net" / "checkpoint.safetensors"
    before = encoder.read_bytes()
    pixels = "data.translate=0"
    made = small_recipe("task=reconstruction", f"encoder={encoder}", "epochs=4", "learning_rate=0.05", pixels)
    figures = train(made, some_images(32, 32), RunOptions(tmp_path / "decoder"))
    losses = [float(row["mse"]) for row in rows(tmp_path / "decoder")]
    assert losses[-1] < 0.8 * losses[0]
    assert figures["test_mse"] > 0
    assert encoder.read_bytes() == before
    decoder = load_decoder_checkpoint(tmp_path / "decoder" / "checkpoint.safetensors")
    assert tuple(decoder(torch.zeros(1, 8, 7, 7)).shape) == (1, 3, 28, 28)


def test_saving_where_nothing_can_be_written_says_so(tmp_path):
    from dcnbio.training.atomic_file import replace_file

    with pytest.raises(SaveError, match="cannot be written"):
        replace_file(tmp_path / "absent" / "file", b"")


@pytest.mark.parametrize(("keep", "passes", "steps"), [(False, 64, 4), (True, 80, 6)])
def test_the_rest_of_an_epoch_is_trained_on_where_it_is_kept(tmp_path, keep, passes, steps):
    recipe = small_recipe("epochs=2", f"keep_partial_batch={str(keep).lower()}")
    seen = []
    found = train(recipe, some_images(40), RunOptions(tmp_path), lambda figures: seen.append(figures.get("step")))
    assert found["passes"] == passes
    assert max(step for step in seen if step) == steps
    assert [int(row["passes"]) for row in rows(tmp_path)] == [passes // 2, passes]


def test_the_gradient_of_the_rest_is_the_mean_over_its_own_images(tmp_path):
    """The oracle: the same 8 images as a whole batch of their own."""
    from dcnbio.training.processes import Processes
    from dcnbio.training.whole_run import prepared

    images = some_images(24).train
    kept = prepared(
        small_recipe("epochs=1", "keep_partial_batch=true", "flip=false", "translate=0"), images, 4, Processes()
    )
    last = kept.batch(1)
    assert len(last[0]) == 8
    outcome = kept.forward(1, kept.recipe.phases[0])
    expected = torch.autograd.grad(outcome.loss / 8, kept.parameters)
    rates = [p.detach().clone() for p in kept.parameters]
    report = kept.step(1, kept.recipe.phases[0])
    assert report.seen == 8
    for before, after, gradient in zip(rates, kept.parameters, expected, strict=True):
        torch.testing.assert_close(after, before - 0.1 * gradient, rtol=1e-5, atol=1e-7)
