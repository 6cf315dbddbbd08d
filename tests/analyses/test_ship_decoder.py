"""A trained decoder ships apart from the networks, with its card, beside the network that it was trained on."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import ship_network
import torch

from dcnbio.errors import CheckpointError, InputError
from dcnbio.images.manifest import build_manifest, write_manifest
from dcnbio.model.checkpoint import read_header, save_checkpoint
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint, save_decoder
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.loading import find_decoder, load, shipped_checkpoints, shipped_controls, shipped_decoders
from dcnbio.model.network import build
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.decoder_card import decoder_card
from dcnbio.training.images import LabelledImages, TrainingImages

STEPS = ["epochs=1", "batch_size=4", "translate=0", "held_out=2"]
EULER = 'phases=[{method="euler", steps=1, gradient="exact"}]'


def noise() -> TrainingImages:
    random = np.random.default_rng(0).integers(0, 256, (14, 3, 32, 32), dtype=np.uint8)
    trained_on, test = LabelledImages(random[:10], np.arange(10)), LabelledImages(random[10:], np.arange(4))
    return TrainingImages(trained_on, test, "/somewhere/noise.npz", {"train": "none", "test": "none"})


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The folder of a decoder's run of two steps, beside its encoder."""
    folder = tmp_path_factory.mktemp("runs")
    net = build("dcn-ode", 0, widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    encoder = save_checkpoint(net, folder / "small.safetensors")
    recipe = with_settings(Recipe(), [*STEPS, EULER, "task=reconstruction", f"encoder={encoder}"])
    options = RunOptions(folder / "back", command=f"dcnbio train --set encoder={encoder}")
    assert train(recipe, noise(), options)["passes"] == 8
    return folder / "back"


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A data folder of its own, with no network yet, that the script writes to and the package reads."""
    root = tmp_path / "data"
    (root / "checkpoints").mkdir(parents=True)
    write_manifest(root)
    monkeypatch.setattr(ship_network, "DATA", root)
    for name, folder in (("CHECKPOINTS", "checkpoints"), ("DECODERS", "decoders"), ("UNFINISHED", "unfinished_runs")):
        monkeypatch.setattr(ship_network, name, root / folder)
    monkeypatch.setattr("dcnbio.model.loading.data_root", lambda: root)
    # the room's function of that name hides the module
    monkeypatch.setattr(importlib.import_module("dcnbio.images.shipped"), "data_root", lambda: root)
    return root


def with_encoder(data: Path, run: Path, name: str = "dcn-ode") -> None:
    shutil.copy2(run.parent / "small.safetensors", data / "checkpoints" / f"{name}.safetensors")


def test_a_decoders_run_ships_among_the_decoders_and_is_found_by_name(data, run):
    with_encoder(data, run)
    ship_network.main([str(run)])
    assert shipped_decoders() == ["back"]
    assert shipped_checkpoints() == ["dcn-ode"]
    assert shipped_controls() == []
    assert sorted(path.name for path in (data / "decoders").iterdir()) == [
        "back.md",
        "back.metrics.csv",
        "back.safetensors",
    ]
    assert json.loads((data / "MANIFEST.json").read_text()) == build_manifest(data)
    assert "decoders/back.safetensors" in build_manifest(data)
    decoder, own = (
        load_decoder_checkpoint(find_decoder("back")),
        load_decoder_checkpoint(run / "checkpoint.safetensors"),
    )
    assert all(torch.equal(a, b) for a, b in zip(decoder.parameters(), own.parameters(), strict=True))
    refuse_other_encoder(decoder, load("dcn-ode"))
    assert decoder.source["encoder"] == "dcn-ode"


def test_its_header_and_card_hold_no_folders_of_the_machine(data, run):
    with_encoder(data, run)
    ship_network.main([str(run), "--name", "other-name"])
    recipe = read_header(find_decoder("other-name")).recipe
    assert recipe["command"] == "dcnbio train --set encoder=small.safetensors"
    assert recipe["encoder"] == "small.safetensors"
    assert recipe["images_source"] == "noise.npz"
    assert str(run.parent) not in (data / "decoders" / "other-name.md").read_text()


def test_the_card_says_errors_with_n_encoder_and_recipe_and_no_accuracy(data, run):
    with_encoder(data, run)
    ship_network.main([str(run)])
    card, header = (data / "decoders" / "back.md").read_text(), read_header(data / "decoders" / "back.safetensors")
    metrics = header.metrics
    low, high = metrics["test_mse_interval"]
    assert card.startswith("# back: decoder for dcn-ode\n")
    assert "| encoder | dcn-ode |" in card
    assert f"| encoder's weights | {load('dcn-ode').source['weights']} |" in card
    mse = f"mean square error {metrics['test_mse']:.5f} of 4 images (95 % interval {low:.5f} to {high:.5f})"
    assert f"| **test error** | {mse}, RGB in [0, 1] |" in card
    assert f"| **held-out error** | mean square error {metrics['held_out_mse']:.5f} of 2 images" in card
    assert f"| test error in table 3's unit | {1000 * metrics['test_rescaled_mse']:.1f}: 1,000 x mean square" in card
    at_1e6 = metrics["held_out_by_tolerance"]["1e-06"]["value"]
    assert f"| held out at tolerance 1e-06 | mean square error {at_1e6:.5f} of 2 images, NFE " in card
    assert "| image passes | 8 |" in card
    assert "| command | dcnbio train --set encoder=small.safetensors |" in card
    assert f"| time | {metrics['minutes']:.0f} minutes on " in card
    assert "accuracy" not in card
    assert " %" not in card.replace("(95 % interval", "").replace(" up to 100 %", "")


def test_an_error_that_was_not_measured_is_said_not_to_be(run, tmp_path):
    decoder = load_decoder_checkpoint(run / "checkpoint.safetensors")
    metrics = {"finished": False, "test_n": 4, "test_failed": 1}
    card = decoder_card(save_decoder(decoder, tmp_path / "half.safetensors", metrics=metrics))
    assert card.startswith("# half: decoder for dcn-ode, unfinished\n")
    assert "| **test error** | none: 1 of 4 images could not be solved |" in card
    assert "| **held-out error** | not measured |" in card


def test_a_decoder_whose_network_does_not_ship_is_refused_and_leaves_nothing(data, run):
    other = build("dcn-ode", 1, widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    save_checkpoint(other, data / "checkpoints" / "dcn-ode.safetensors")
    weights = read_header(run / "checkpoint.safetensors").source["encoder_weights"]
    with pytest.raises(SystemExit, match=f"trained on a network with weights {weights}, and none of the networks in"):
        ship_network.main([str(run)])
    assert not (data / "decoders").exists()


def test_a_decoder_of_an_unknown_network_is_refused(data, run, tmp_path):
    spec = load_decoder_checkpoint(run / "checkpoint.safetensors").spec
    (tmp_path / "old").mkdir()
    save_decoder(build_decoder(spec), tmp_path / "old" / "checkpoint.safetensors")
    with pytest.raises(SystemExit, match="does not tell which network it was trained on"):
        ship_network.main([str(tmp_path / "old")])


def test_the_state_of_an_unfinished_decoder_is_kept_apart_and_goes_once_it_ships(data, run, tmp_path):
    with_encoder(data, run)
    encoder, out = run.parent / "small.safetensors", tmp_path / "back"
    recipe = with_settings(Recipe(), [*STEPS, EULER, "task=reconstruction", f"encoder={encoder}", "epochs=2"])
    command = f"dcnbio train --images={tmp_path}/train.tar.xz --out {out}"
    assert train(recipe, noise(), RunOptions(out, stop_minutes=0.0, command=command)) is None
    assert train(None, noise(), RunOptions(out, resume=True, stop_minutes=0.0)) is None
    ship_network.main([str(out), "--unfinished"])
    kept = data / "unfinished_runs" / "decoders" / "back"
    assert sorted(path.name for path in kept.iterdir()) == sorted(ship_network.STATE)
    assert json.loads((kept / "run.json").read_text())["command"] == "dcnbio train --images=train.tar.xz --out back"
    assert train(None, noise(), RunOptions(kept, resume=True))["finished"]
    ship_network.main([str(run)])
    assert not kept.exists()


def small_network_run(out: Path, *settings: str) -> Path:
    """A run that was stopped after its first step, before an epoch's end."""
    small = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", EULER]
    recipe = with_settings(Recipe(), [*STEPS, *small, *settings])
    assert train(recipe, noise(), RunOptions(out, stop_minutes=0.0)) is None
    return out


def test_a_run_that_was_stopped_in_its_first_epoch_is_kept_and_goes_on(data, tmp_path):
    out, kept = small_network_run(tmp_path / "dcn-ode"), data / "unfinished_runs" / "dcn-ode"
    assert not (out / "metrics.csv").exists()
    kept.mkdir(parents=True)
    (kept / "metrics.csv").write_text("step\n999\n")  # of a run that was kept there before
    ship_network.main([str(out), "--unfinished"])
    assert sorted(path.name for path in kept.iterdir()) == ["run.json", "state.safetensors"]
    assert train(None, noise(), RunOptions(kept, resume=True))["finished"]
    with pytest.raises(SystemExit, match="holds a finished run, which has no state any more; leave --unfinished out"):
        ship_network.main([str(kept), "--unfinished"])


def test_a_run_that_was_ended_before_its_first_save_has_nothing_to_keep(data, tmp_path):
    out = small_network_run(tmp_path / "dcn-ode")
    (out / "state.safetensors").unlink()
    with pytest.raises(SystemExit, match="the run was ended before its first save, so there is nothing to keep; "):
        ship_network.main([str(out), "--unfinished"])
    assert not (data / "unfinished_runs").exists()


def test_a_networks_run_ships_among_the_networks_as_before(data, tmp_path):
    small = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", EULER]
    train(with_settings(Recipe(), [*STEPS, *small]), noise(), RunOptions(tmp_path / "dcn-ode"))
    ship_network.main([str(tmp_path / "dcn-ode")])
    assert shipped_checkpoints() == ["dcn-ode"]
    assert shipped_decoders() == []
    assert "| held-out accuracy |" in (data / "checkpoints" / "dcn-ode.md").read_text().replace("*", "")


def test_where_no_decoder_ships_that_is_said(data):
    with pytest.raises(CheckpointError, match="decoder is 'dcn-ode': there is no such file, and no decoder ships with"):
        find_decoder("dcn-ode")


def test_a_name_that_is_none_of_the_shipped_is_told_which_there_are(data, run):
    with_encoder(data, run)
    ship_network.main([str(run)])
    with pytest.raises(CheckpointError, match=r"no such file, and the shipped decoders are back; train one with"):
        find_decoder("bakc")


def test_a_damaged_shipped_decoder_is_refused(data, run):
    with_encoder(data, run)
    ship_network.main([str(run)])
    path = data / "decoders" / "back.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match="it is damaged or was changed"):
        find_decoder("back")


def test_a_folder_with_one_checkpoint_is_that_checkpoint(run, tmp_path):
    assert find_decoder(run) == run / "checkpoint.safetensors"
    with pytest.raises(CheckpointError, match="is a folder without a checkpoint"):
        find_decoder(tmp_path)


@pytest.mark.parametrize("name", shipped_decoders())
def test_the_card_of_every_shipped_decoder_is_its_headers_and_it_fits_the_network_it_names(name):
    path = find_decoder(name)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == decoder_card(path)
    decoder = load_decoder_checkpoint(path)
    refuse_other_encoder(decoder, load(decoder.source["encoder"]))
