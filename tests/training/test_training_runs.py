"""A run learns what its recipe says, row by row and solver by solver, and records what it did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from dcnbio.model.checkpoint import load_checkpoint, read_header
from dcnbio.model.convolution_precision import convolution_type
from dcnbio.training import RunOptions, train
from dcnbio.training.recipe_parts import Phase


def test_a_run_learns_and_records_what_it_did(small, tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.training.final_figures.TOLERANCE_IMAGES", 8)
    settings = ["epochs=8", "held_out=16", small.COARSE, "learning_rate=0.1", "schedule=one-cycle"]
    figures = train(small.recipe(*settings), small.images(112), RunOptions(tmp_path, command="the command"))
    found = small.rows(tmp_path)
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


def test_the_accuracy_in_the_header_is_that_of_the_checkpoint(small, tmp_path):
    images = small.images()
    figures = train(small.recipe("epochs=1"), images, RunOptions(tmp_path))
    net = load_checkpoint(tmp_path / "checkpoint.safetensors")
    pixels, labels = images.test.tensors(torch.float32, "cpu")
    with torch.no_grad():
        right = int((net(pixels).argmax(1) == labels).sum())
    assert figures["test_accuracy"] == right / 32


def test_a_ceiling_holds_the_scales(small, tmp_path):
    made = small.recipe("epochs=2", "guards.sigma_ceiling=1.0", "learning_rate=0.2", "model=dcn-sigma-t")
    train(made, small.images(), RunOptions(tmp_path))
    net = load_checkpoint(tmp_path / "checkpoint.safetensors")
    for block in net.blocks:
        for conv in block.field.convs:
            for time in (0.0, 1.0, 2.0):
                assert float(conv.sigma(torch.tensor(time)).detach()) <= 1.0 + 1e-6


def test_the_gap_between_solvers_ends_a_phase_early(small, tmp_path, monkeypatch):
    import dcnbio.training.run as run_module
    from dcnbio.training.measure import Measured

    def pretended(objective, images, processes, solver=None):
        right = 8 if solver is not None and solver.step_size is not None else 4
        return Measured(8, right, 0, 1.0, (1.0, 1.0))

    monkeypatch.setattr(run_module, "measure", pretended)
    made = small.recipe("epochs=4", "held_out=8", "guards.gap_limit=0.1", small.COARSE.replace("0.5, m", "0.9, m"))
    train(made, small.images(), RunOptions(tmp_path))
    assert [row["solver"].split()[0] for row in small.rows(tmp_path)] == ["midpoint", "dopri5", "dopri5", "dopri5"]


def test_adjoint_and_exact_gradients_train_alike(small, tmp_path):
    made = small.recipe("epochs=4", "learning_rate=0.02", "momentum=0.5", "network.widths=[4]")
    losses = []
    for gradient in ("adjoint", "exact"):
        phase = Phase(gradient=gradient, rtol=1e-4, atol=1e-4)
        train(replace(made, phases=(phase,)), small.images(), RunOptions(tmp_path / gradient))
        losses.append([float(row["loss"]) for row in small.rows(tmp_path / gradient)])
    assert losses[1][-1] < losses[1][0] - 0.05
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)


@pytest.mark.parametrize("row", ["resnet-blocks", "ode-net"])
def test_convolutions_in_bfloat16_train_as_those_in_float32_do(small, tmp_path, row):
    losses = []
    for kind in ("float32", "bfloat16"):
        phases = f'phases=[{{method="midpoint", steps=2, gradient="exact", convolutions="{kind}"}}]'
        made = small.recipe("epochs=4", "learning_rate=0.02", "momentum=0.5", f"model={row}", phases)
        train(made, small.images(), RunOptions(tmp_path / kind))
        losses.append([float(row["loss"]) for row in small.rows(tmp_path / kind)])
    assert losses[1][-1] < losses[1][0] - 0.05
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)
    assert losses[0] != losses[1]
    assert small.rows(tmp_path / "bfloat16")[0]["solver"] == "midpoint x 2 exact bfloat16"
    # what is kept is in full precision, and so is every measurement of it
    assert {value.dtype for value in load_file(tmp_path / "bfloat16" / "checkpoint.safetensors").values()} == {
        torch.float32
    }
    assert convolution_type() is None


@pytest.mark.parametrize("row", ["resnet-srf-full", "ode-net", "dcn-sigma-ji"])
def test_every_kind_of_row_can_be_trained(small, tmp_path, row):
    figures = train(small.recipe("epochs=1", f"model={row}"), small.images(32), RunOptions(tmp_path))
    assert figures["passes"] == 32
    assert (tmp_path / "log2_sigma" / "step_00000000.npz").exists() == (row == "dcn-sigma-ji")


def test_a_decoder_is_trained_on_an_encoder_that_stays(small, tmp_path):
    from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint

    three = small.recipe("epochs=1", "network.widths=[4, 4, 8]", 'phases=[{method="euler", steps=1, gradient="exact"}]')
    train(three, small.images(32, 32), RunOptions(tmp_path / "net"))
    encoder = tmp_path / "net" / "checkpoint.safetensors"
    before = encoder.read_bytes()
    pixels = "data.translate=0"
    made = small.recipe("task=reconstruction", f"encoder={encoder}", "epochs=4", "learning_rate=0.05", pixels)
    figures = train(made, small.images(32, 32), RunOptions(tmp_path / "decoder"))
    losses = [float(row["mse"]) for row in small.rows(tmp_path / "decoder")]
    assert losses[-1] < 0.8 * losses[0]
    assert figures["test_mse"] > 0
    assert encoder.read_bytes() == before
    decoder = load_decoder_checkpoint(tmp_path / "decoder" / "checkpoint.safetensors")
    assert tuple(decoder(torch.zeros(1, 8, 7, 7)).shape) == (1, 3, 28, 28)


@pytest.mark.parametrize(("keep", "passes", "steps"), [(False, 64, 4), (True, 80, 6)])
def test_the_rest_of_an_epoch_is_trained_on_where_it_is_kept(small, tmp_path, keep, passes, steps):
    recipe = small.recipe("epochs=2", f"keep_partial_batch={str(keep).lower()}")
    seen = []
    found = train(recipe, small.images(40), RunOptions(tmp_path), lambda figures: seen.append(figures.get("step")))
    assert found["passes"] == passes
    assert max(step for step in seen if step) == steps
    assert [int(row["passes"]) for row in small.rows(tmp_path)] == [passes // 2, passes]


def test_the_gradient_of_the_rest_is_the_mean_over_its_own_images(small, tmp_path):
    """The oracle: the same 8 images as a whole batch of their own."""
    from dcnbio.training.processes import Processes
    from dcnbio.training.whole_run import prepared

    images = small.images(24).train
    kept = prepared(
        small.recipe("epochs=1", "keep_partial_batch=true", "flip=false", "translate=0"), images, 4, Processes()
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
