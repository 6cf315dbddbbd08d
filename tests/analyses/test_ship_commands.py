"""The command in a shipped header is the one that its run was begun with, and gives the header's recipe."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import ship_network
from recorded_command import gives, goes_on, passes_of_file, recipe_of

from dcnbio.images.manifest import build_manifest
from dcnbio.model.checkpoint import load_checkpoint, read_header
from dcnbio.model.loading import find_checkpoint, find_decoder, shipped_checkpoints, shipped_decoders
from dcnbio.model.run_parts import earlier_parts
from dcnbio.model.weights import weights_id
from dcnbio.training import RunOptions, read_recipe, train
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.model_card import model_card
from dcnbio.training.recipe import recipe_from_dict
from dcnbio.training.recipe_differences import recorded_recipe

RECIPES = Path(ship_network.__file__).parent / "recipes"
SMALL = [
    "network.widths=[4]",
    "network.norm_groups=4",
    "network.integration_time=0.1",
    'phases=[{method="euler", steps=1, gradient="exact"}]',
    "batch_size=4",
    "translate=0",
]
FIRST = "dcnbio train --recipe analyses/recipes/paper.toml --images noise.npz --out net --epochs 1" + "".join(
    f" --set '{setting}'" for setting in SMALL
)
SHIPPED = [find_checkpoint(name) for name in shipped_checkpoints()] + [
    find_decoder(name) for name in shipped_decoders()
]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_command_of_every_shipped_network_gives_the_recipe_in_its_header(path):
    recipe = read_header(path).recipe
    assert gives(recipe["command"], recorded_recipe(recipe))
    assert recipe.get("passes_of_file") == passes_of_file(recipe["command"])
    for part in earlier_parts(recipe):
        # a part of which nothing is recorded has neither
        assert ("command" in part) == ("recipe" in part)
        if "command" in part:
            assert gives(part["command"], recipe_from_dict(part["recipe"]))


def test_the_parts_that_are_recorded_of_dcn_ode_are_all_of_them():
    parts = earlier_parts(read_header(find_checkpoint("dcn-ode")).recipe)
    assert [part["recipe"]["optimisation"]["passes"] for part in parts] == [450_000, 32_000, 360_000]


@pytest.mark.parametrize(
    ("command", "found"),
    [("dcnbio train --resume --out a", True), ("dcnbio train --resume=true", True), ("dcnbio train --out a", False)],
)
def test_a_command_that_goes_on_with_a_run_is_known_by_its_option(command, found):
    assert goes_on(command) == found


def test_the_passes_of_a_recipes_file_are_those_in_it_whatever_the_command_says():
    named = read_recipe(RECIPES / "budget_reconstruction.toml").optimisation.passes
    command = "dcnbio train --recipe analyses/recipes/budget_reconstruction.toml --images a --out b"
    assert passes_of_file(f"{command} --passes 20000") == passes_of_file(command) == named == 150_000
    assert passes_of_file("dcnbio train --images a --out b --passes 20000") is None
    assert passes_of_file("dcnbio train --recipe absent.toml --images a --out b") is None
    assert passes_of_file("run from a notebook") is None


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A data folder of its own, with nothing in it."""
    root = tmp_path / "data"
    (root / "checkpoints").mkdir(parents=True)
    monkeypatch.setattr(ship_network, "DATA", root)
    for name, folder in (("CHECKPOINTS", "checkpoints"), ("DECODERS", "decoders"), ("UNFINISHED", "unfinished_runs")):
        monkeypatch.setattr(ship_network, name, root / folder)
    return root


@pytest.fixture
def resumed(tmp_path) -> Path:
    """The folder of a finished run that recorded, as runs did once, the command that went on with it."""
    pixels = np.random.default_rng(0).integers(0, 256, (8, 3, 12, 12), dtype=np.uint8)
    images = TrainingImages(LabelledImages(pixels, np.arange(8) % 4), None, "noise.npz", {"train": "none"})
    run = tmp_path / "runs" / "net"
    train(recipe_of(FIRST), images, RunOptions(run, command="dcnbio train --resume --images noise.npz --out net"))
    return run


def kept_state(data: Path, run: Path, **facts: object) -> Path:
    kept = data / "unfinished_runs" / "net" / "run.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps({**json.loads((run / "run.json").read_text()), "finished": False, **facts}))
    return kept


def test_a_run_that_recorded_how_it_went_on_ships_with_the_command_of_the_state_that_was_kept(data, resumed):
    kept = kept_state(data, resumed, command=FIRST)
    ship_network.main([str(resumed)])
    path = data / "checkpoints" / "net.safetensors"
    assert read_header(path).recipe["command"] == FIRST
    assert f"| command | {FIRST} |" in path.with_suffix(".md").read_text()
    assert not kept.exists()
    own = load_checkpoint(resumed / "checkpoint.safetensors")
    assert weights_id(load_checkpoint(path).state_dict()) == weights_id(own.state_dict())


def test_without_such_a_state_or_with_that_of_another_recipe_the_command_is_asked_for(data, resumed):
    with pytest.raises(SystemExit, match="holds no other of the same recipe; give the command that it was begun with"):
        ship_network.main([str(resumed)])
    recipe = json.loads((resumed / "run.json").read_text())["recipe"]
    kept_state(data, resumed, command=FIRST, recipe={**recipe, "seed": 9})
    with pytest.raises(SystemExit, match=r"records?.*--resume --images noise\.npz"):
        ship_network.main([str(resumed)])
    assert not list((data / "checkpoints").iterdir())
    ship_network.main([str(resumed), "--command", FIRST])
    assert read_header(data / "checkpoints" / "net.safetensors").recipe["command"] == FIRST


def test_a_header_that_is_written_again_has_the_command_and_the_same_weights(data, resumed):
    path = data / "checkpoints" / "net.safetensors"
    shutil.copy2(resumed / "checkpoint.safetensors", path)
    before = read_header(path)
    ship_network.main(["--again", str(path), "--command", FIRST])
    after, own = read_header(path), load_checkpoint(resumed / "checkpoint.safetensors")
    assert after.recipe == {**before.recipe, "command": FIRST}
    assert (after.metrics, after.initial_log2_sigma) == (before.metrics, before.initial_log2_sigma)
    assert weights_id(load_checkpoint(path).state_dict()) == weights_id(own.state_dict())
    assert path.with_suffix(".md").read_text() == model_card(path)
    assert json.loads((data / "MANIFEST.json").read_text()) == build_manifest(data)
