"""The paper's recipe file, run for one epoch on 1,280 images, does what the paper says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from dcnbio.model.network import build
from dcnbio.training import RunOptions, read_recipe, train, with_settings
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.step import Trainer

RECIPE = Path(__file__).parents[2] / "analyses" / "recipes" / "paper.toml"
# a network of the same kind that is done in a second; the recipe's numbers do not depend on its width
NARROW = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1"]


def numbered_images(n: int) -> TrainingImages:
    """Make images whose pixels all have one value, which says what image it is: 1 to 255, or its place in red."""
    images = np.zeros((n, 3, 32, 32), np.uint8)
    images[:, 0], images[:, 1] = 1 + np.arange(n)[:, None, None] % 250, 1 + np.arange(n)[:, None, None] // 250
    images[:, 2, :, :16] = 255
    labels = np.arange(n) % 10
    return TrainingImages(LabelledImages(images, labels), None, "made", {"train": str(n)})


@pytest.fixture(scope="module")
def epoch(tmp_path_factory):
    """Run the epoch and keep what each step was given and left behind."""
    steps: list[dict[str, object]] = []
    batch, update = Trainer.batch, Trainer.update

    def seen_batch(self, step):
        pixels, labels = batch(self, step)
        steps.append({"pixels": pixels.clone(), "labels": labels.clone()})
        return pixels, labels

    def seen_update(self, step, number):
        before = [p.detach().clone() for p in self.parameters]
        gradients = [p.grad.clone() for p in self.parameters]
        update(self, step, number)
        after = [p.detach().clone() for p in self.parameters]
        groups = [{k: v for k, v in g.items() if k != "params"} for g in self.optimiser.param_groups]
        steps[-1] |= {"before": before, "gradients": gradients, "after": after, "groups": groups}

    recipe = with_settings(read_recipe(RECIPE), [*NARROW, "epochs=1"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "batch", seen_batch)
        patch.setattr(Trainer, "update", seen_update)
        train(recipe, numbered_images(1280), RunOptions(tmp_path_factory.mktemp("papers") / "run"))
    return steps


def test_an_epoch_is_ten_batches_of_128_that_hold_every_image_once(epoch):
    assert [len(step["labels"]) for step in epoch] == [128] * 10
    largest = torch.cat([step["pixels"] for step in epoch]).mul(255).round().amax((2, 3))
    numbers = (largest[:, 0] - 1) + 250 * (largest[:, 1] - 1)
    assert sorted(numbers.int().tolist()) == list(range(1280))
    labels = torch.cat([step["labels"] for step in epoch])
    assert torch.equal(labels, (numbers.long() % 10))


def test_images_are_moved_by_up_to_four_pixels_and_half_are_mirrored(epoch):
    pixels = torch.cat([step["pixels"] for step in epoch])
    lit = pixels[:, 0] > 0
    rows, columns = lit.any(2).sum(1), lit.any(1).sum(1)
    assert int(rows.min()) == int(columns.min()) == 28
    assert int(rows.max()) == int(columns.max()) == 32
    # nine displacements, evenly: 0 leaves 32 rows, +-d leaves 32 - d
    share = torch.bincount(32 - rows, minlength=5)[:5] / len(rows)
    np.testing.assert_allclose(share.numpy(), [1 / 9, 2 / 9, 2 / 9, 2 / 9, 2 / 9], atol=0.05)
    mirrored = (pixels[:, 2, :, 20:].amax((1, 2)) > 0).float().mean()
    assert abs(float(mirrored) - 0.5) < 0.05


def test_weights_move_by_momentum_of_nine_tenths_at_a_rate_of_a_tenth(epoch):
    velocity = [torch.zeros_like(g) for g in epoch[0]["gradients"]]
    for step in epoch:
        velocity = [0.9 * v + g for v, g in zip(velocity, step["gradients"], strict=True)]
        for before, after, v in zip(step["before"], step["after"], velocity, strict=True):
            torch.testing.assert_close(after, before - 0.1 * v, rtol=1e-5, atol=1e-7)
        for group in step["groups"]:
            assert (group["lr"], group["momentum"], group["dampening"]) == (0.1, 0.9, 0)
            assert (group["weight_decay"], group["nesterov"]) == (0, False)


def test_initial_values_have_the_papers_distributions():
    fields = [build("dcn-sigma-ji", seed).block(1).field for seed in range(3)]
    alpha = torch.cat([conv.alpha.offset.detach().flatten() for field in fields for conv in field.convs])
    scales = torch.cat([conv.log2_sigma.offset.detach().flatten() for field in fields for conv in field.convs])
    assert abs(float(alpha.mean())) < 4 * 0.1 / math.sqrt(len(alpha))
    assert abs(float(alpha.std()) - 0.1) < 0.002
    assert abs(float(scales.mean())) < 4 * (2 / 3) / math.sqrt(len(scales))
    assert abs(float(scales.std()) - 2 / 3) < 0.02
    # PyTorch's default for pixel kernels: uniform within 1 / sqrt(fan in)
    weight = build("ode-net", 0).block(2).field.conv1.weight.detach()
    bound = 1 / math.sqrt(weight[0].numel())
    assert float(weight.abs().max()) <= bound
    assert abs(float(weight.std()) - bound / math.sqrt(3)) < 0.02 * bound


@pytest.mark.slow
def test_the_real_network_takes_the_epoch(tmp_path):
    recipe = with_settings(read_recipe(RECIPE), ["epochs=1"])
    figures = train(recipe, numbered_images(1280), RunOptions(tmp_path / "run"))
    assert figures["passes"] == 1280
    assert figures["finished"]
