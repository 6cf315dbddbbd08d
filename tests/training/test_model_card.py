"""The card says what the header says, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcnbio.images.shipped import data_root
from dcnbio.model.checkpoint import Header, read_header, save_checkpoint
from dcnbio.model.loading import load, shipped_checkpoints, shipped_controls
from dcnbio.model.network import build
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.model_card import model_card, not_good_for
from dcnbio.training.recipe_parts import Phase

SMALL = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.2", "batch_size=8", "held_out=20"]


def trained(folder: Path, *settings: str) -> Path:
    random = np.random.default_rng(0)
    images = LabelledImages(random.integers(0, 255, (60, 3, 12, 12), dtype=np.uint8), np.arange(60) % 10)
    test = LabelledImages(random.integers(0, 255, (20, 3, 12, 12), dtype=np.uint8), np.arange(20) % 10)
    recipe = with_settings(Recipe(phases=(Phase(gradient="exact"),)), [*SMALL, "epochs=1", *settings])
    train(recipe, TrainingImages(images, test, "made of noise", {"train": "a", "test": "b"}), RunOptions(folder))
    return folder / "checkpoint.safetensors"


def test_a_card_holds_recipe_accuracies_and_scales(tmp_path):
    path = trained(tmp_path / "run", "initial_sigma=constant")
    card, metrics = model_card(path), read_header(path).metrics
    assert f"{100 * metrics['held_out_accuracy']:.1f} % of 20 images" in card
    assert f"{100 * metrics['test_accuracy']:.1f} % of 20 images" in card
    assert "made of noise" in card
    assert "| image passes | 40 |" in card
    assert "1 pixel everywhere" in card
    assert "| block1_conv1 | 1.00 |" in card
    at_1e6 = metrics["held_out_by_tolerance"]["1e-06"]["value"]
    assert f"| held out at tolerance 1e-06 | {100 * at_1e6:.1f} % of 20 images, NFE " in card
    assert "its scales began elsewhere" in card.lower()
    assert "below the paper's" in card


def test_an_untrained_network_is_called_one(tmp_path):
    path = save_checkpoint(build("ode-net"), tmp_path / "net.safetensors", metrics={"passes": 0})
    card = model_card(path)
    assert card.startswith("# net: ode-net, untrained")
    assert "accuracy" not in card
    assert "never trained" in card


def test_controls_ship_beside_the_networks_and_are_not_counted_among_them():
    assert "dcn-ode" in shipped_checkpoints()
    assert "dcn-ode-untrained" not in shipped_checkpoints()
    assert "dcn-ode-untrained" in shipped_controls()
    net, new = load("dcn-ode-untrained"), build("dcn-ode", 0)
    assert all((a == b).all() for a, b in zip(net.state_dict().values(), new.state_dict().values(), strict=True))


@pytest.mark.parametrize("name", [*shipped_checkpoints(), *shipped_controls()])
def test_the_card_of_every_shipped_network_says_what_its_header_says(name):
    path = data_root() / "checkpoints" / f"{name}.safetensors"
    again = f"python analyses/ship_network.py --again data/checkpoints/{path.name}"
    assert path.with_suffix(".md").read_text(encoding="utf-8") == model_card(path), again


def test_a_training_that_was_cut_short_of_its_recipe_says_so():
    header = Header(
        spec={},
        recipe={"optimisation": {"batch_size": 128, "passes": 20_000}, "passes_of_file": 150_000},
        metrics={"passes": 19_968},
    )
    said = (
        "It was trained for 19,968 of its recipe's 150,000 image passes: how well it does is no measure of that recipe."
    )
    assert said in not_good_for(header)
    whole = replace(header, metrics={"passes": 149_888})
    assert said not in not_good_for(whole)
    assert not any("its recipe's" in sentence for sentence in not_good_for(whole))
    # a part that refines what came before is no run cut short
    begun = replace(header, recipe={**header.recipe, "begun_from": {"file": "a", "passes": 131_000}})
    assert not any("its recipe's" in sentence for sentence in not_good_for(begun))


@pytest.mark.parametrize(("border", "said"), [("mirror", True), ("black", False)])
def test_a_network_that_met_no_black_areas_is_not_to_be_compared_under_black_masks(border, said):
    header = Header(spec={}, recipe={"data": {"border": border}}, metrics={"passes": 1000})
    assert any("under black masks" in sentence for sentence in not_good_for(header)) == said
