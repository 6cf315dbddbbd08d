"""A run can go on from a trained network: with its weights, its record, and no other network's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import load_checkpoint, read_header, save_checkpoint
from dcnbio.model.run_parts import earlier_parts
from dcnbio.model.weights import weights_id
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.model_card import model_card
from dcnbio.training.recipe import recipe_from_dict

SMALL = [
    'phases=[{method="midpoint", steps=2, gradient="exact"}]',
    "network.widths=[4, 8]",
    "network.norm_groups=4",
    "network.integration_time=0.5",
    "batch_size=16",
    "translate=1",
    "epochs=1",
]


def small_recipe(*settings: str) -> Recipe:
    return with_settings(Recipe(), [*SMALL, *settings])


def some_images(classes: int = 4) -> TrainingImages:
    """Make 48 images of noise, equally many of each class."""
    images = np.random.default_rng(0).integers(0, 256, (48, 3, 12, 12), dtype=np.uint8)
    return TrainingImages(LabelledImages(images, np.arange(48) % classes), None, "made", {"train": "noise"})


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    train(small_recipe("epochs=2", "held_out=8", "seed=4"), some_images(), RunOptions(folder, command="the first"))
    return folder / "checkpoint.safetensors"


def test_a_run_that_learns_nothing_ends_with_the_weights_it_began_with(first, tmp_path):
    recipe = small_recipe("learning_rate=0", "seed=5", f"start={first}")
    train(recipe, some_images(), RunOptions(tmp_path))
    again, before = load_checkpoint(tmp_path / "checkpoint.safetensors"), load_checkpoint(first)
    assert weights_id(again.state_dict()) == weights_id(before.state_dict())


def test_the_header_and_card_tell_where_it_began_and_the_scales_before_any_training(first, tmp_path):
    train(small_recipe(f"start={first}"), some_images(), RunOptions(tmp_path))
    begun, header = read_header(first), read_header(tmp_path / "checkpoint.safetensors")
    told = header.recipe["begun_from"]
    assert told["weights"] == weights_id(load_checkpoint(first).state_dict())
    assert told["passes"] == begun.metrics["passes"]
    assert told["held_out_accuracy"] == begun.metrics["held_out_accuracy"]
    assert header.initial_log2_sigma == begun.initial_log2_sigma
    assert told["command"] == "the first"
    assert told["seed"] == 4
    assert recipe_from_dict(told["recipe"]) == small_recipe("epochs=2", "held_out=8", "seed=4")


def test_the_card_lists_every_part_of_a_training_with_its_recipe_and_command(first, tmp_path):
    second, third = tmp_path / "second", tmp_path / "third"
    halved = small_recipe(f"start={first}", "learning_rate=0.05")
    train(halved, some_images(), RunOptions(second, command="the second"))
    go_on = small_recipe(f"start={second / 'checkpoint.safetensors'}")
    train(go_on, some_images(), RunOptions(third, command="the third"))
    card = model_card(third / "checkpoint.safetensors")
    one, two, parts = (line for line in card.splitlines() if line.startswith("| part"))
    assert one.startswith("| part 1 | 64 passes, 0 minutes, held out ")
    assert ", seed 4; recipe paper; SGD, momentum 0.9, learning rate 0.1, steps, batch 16, 1-pixel shifts" in one
    assert "; solver midpoint x 2 per block up to 100 % (exact gradients); command the first; gave " in one
    assert two.startswith("| part 2 | 48 passes, 0 minutes, seed 0; ")
    assert "learning rate 0.05, steps, batch 16" in two
    weights = read_header(third / "checkpoint.safetensors").recipe["begun_from"]["weights"]
    assert f"; command the second; gave {second / 'checkpoint.safetensors'}, weights {weights} |" in two
    assert parts.startswith("| parts | 3, each from the weights that the one before gave; 160 passes and 0 minutes")
    assert "| command | the third |" in card


def test_what_was_not_recorded_of_a_part_is_said_not_to_be(first, tmp_path):
    old = tmp_path / "old.safetensors"
    header = read_header(first)
    save_checkpoint(load_checkpoint(first), old, metrics=header.metrics, recipe={"optimizer": "SGD"})
    train(small_recipe(f"start={old}"), some_images(), RunOptions(tmp_path / "run"))
    (part,) = earlier_parts(read_header(tmp_path / "run" / "checkpoint.safetensors").recipe)
    assert "recipe" not in part
    card = model_card(tmp_path / "run" / "checkpoint.safetensors")
    assert "; recipe not recorded; command not recorded; gave " in card


def test_it_goes_on_without_the_file_and_to_the_same_bits(first, tmp_path):
    recipe = small_recipe("epochs=2", f"start={first}")
    train(recipe, some_images(), RunOptions(tmp_path / "whole"))
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(first.read_bytes())
    other = with_settings(recipe, [f"start={copy}"])
    assert train(other, some_images(), RunOptions(tmp_path / "parts", stop_minutes=1e-9)) is None
    copy.unlink()
    train(None, some_images(), RunOptions(tmp_path / "parts", resume=True))
    whole, parts = (load_checkpoint(tmp_path / name / "checkpoint.safetensors") for name in ("whole", "parts"))
    assert weights_id(whole.state_dict()) == weights_id(parts.state_dict())
    before = read_header(first).initial_log2_sigma
    assert read_header(tmp_path / "parts" / "checkpoint.safetensors").initial_log2_sigma == before


def test_a_file_that_changed_before_the_first_save_is_refused(first, tmp_path):
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(first.read_bytes())
    run = tmp_path / "run"
    train(small_recipe("epochs=2", f"start={copy}"), some_images(), RunOptions(run, stop_minutes=1e-9))
    (run / "state.safetensors").unlink()
    net = load_checkpoint(copy)
    with torch.no_grad():
        next(net.parameters()).add_(1)
    save_checkpoint(net, copy, overwrite=True)
    with pytest.raises(InputError, match=r"was begun with the weights \S+ of .*copy\.safetensors, which now has"):
        train(None, some_images(), RunOptions(run, resume=True))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network.widths=[4, 12]", r"differs from the network to be trained \(widths \(4, 8\), not \(4, 12\)\)"),
        ("initial_sigma=constant", "initial_sigma is 'constant'; a network to go on from has its scales"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_folder_is_made(first, tmp_path, setting, message):
    with pytest.raises(InputError, match=message):
        train(small_recipe(f"start={first}", setting), some_images(), RunOptions(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_network_with_room_for_the_classes_is_needed(first, tmp_path):
    with pytest.raises(InputError, match="the images have 48 classes and the network 10"):
        train(small_recipe(f"start={first}"), some_images(48), RunOptions(tmp_path / "a"))
