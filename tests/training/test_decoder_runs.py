"""A decoder's run keeps the hash of its encoder's weights: in the checkpoint, and in the record it goes on from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import load_checkpoint, read_header, save_checkpoint
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.network import build
from dcnbio.model.weights import weights_id
from dcnbio.probe.reconstruction import reconstruction_loss
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.final_figures import named
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.objective import Reconstruction
from dcnbio.training.processes import Processes
from dcnbio.training.reconstruction_error import measure_reconstruction

SMALL = [
    "task=reconstruction",
    "epochs=1",
    "batch_size=4",
    "translate=0",
    'phases=[{method="euler", steps=1, gradient="exact"}]',
]


def images() -> TrainingImages:
    noise = np.random.default_rng(0).integers(0, 256, (12, 3, 32, 32), dtype=np.uint8)
    trained_on, test = LabelledImages(noise[:8], np.arange(8)), LabelledImages(noise[8:], np.arange(4))
    return TrainingImages(trained_on, test, "noise", {"train": "none", "test": "none"})


def small_encoder(path: Path, seed: int = 0) -> Path:
    net = build("dcn-ode", seed, widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    return save_checkpoint(net, path, overwrite=True)


def two_steps(encoder: Path, *settings: str) -> Recipe:
    return with_settings(Recipe(), [*SMALL, f"encoder={encoder}", *settings])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_checkpoint_tells_the_encoder_it_was_trained_on(tmp_path, dtype):
    encoder = small_encoder(tmp_path / "net.safetensors")
    train(two_steps(encoder, f"dtype={dtype}"), images(), RunOptions(tmp_path / "run"))
    net, path = load_checkpoint(encoder), tmp_path / "run" / "checkpoint.safetensors"
    assert read_header(path).source["encoder_weights"] == weights_id(net.state_dict())
    assert read_header(path).source["encoder"] == str(encoder)
    refuse_other_encoder(load_decoder_checkpoint(path), net)


def test_a_run_goes_on_with_the_encoder_it_was_begun_with(tmp_path):
    encoder, out = small_encoder(tmp_path / "net.safetensors"), tmp_path / "run"
    own = weights_id(load_checkpoint(encoder).state_dict())
    assert train(two_steps(encoder), images(), RunOptions(out, stop_minutes=0.0)) is None
    record, state = (out / "run.json").read_bytes(), (out / "state.safetensors").read_bytes()
    assert json.loads(record)["encoder_weights"] == own
    small_encoder(encoder, seed=1)
    other = weights_id(load_checkpoint(encoder).state_dict())
    with pytest.raises(InputError, match=f"begun on an encoder with weights {own}, but the encoder now has {other}; "):
        train(None, images(), RunOptions(out, resume=True))
    assert (out / "run.json").read_bytes() == record
    assert (out / "state.safetensors").read_bytes() == state
    small_encoder(encoder)
    assert train(None, images(), RunOptions(out, resume=True))["finished"]
    finished = json.loads((out / "run.json").read_text())
    assert finished["finished"]
    assert finished["encoder_weights"] == own


def test_a_run_killed_before_its_first_save_is_held_to_its_encoder_too(tmp_path):
    encoder, out = small_encoder(tmp_path / "net.safetensors"), tmp_path / "run"
    train(two_steps(encoder), images(), RunOptions(out, stop_minutes=0.0))
    (out / "state.safetensors").unlink()
    small_encoder(encoder, seed=1)
    with pytest.raises(InputError, match="put the former file back, or begin anew"):
        train(None, images(), RunOptions(out, resume=True))


def test_a_record_without_the_encoders_weights_is_not_believed(tmp_path):
    encoder, out = small_encoder(tmp_path / "net.safetensors"), tmp_path / "run"
    train(two_steps(encoder), images(), RunOptions(out, stop_minutes=0.0))
    record = json.loads((out / "run.json").read_text())
    del record["encoder_weights"]
    (out / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="does not tell which encoder's weights it was begun with"):
        train(None, images(), RunOptions(out, resume=True))


def test_the_error_is_the_one_that_is_measured_on_recorded_maps(tmp_path):
    encoder = small_encoder(tmp_path / "net.safetensors")
    found = train(two_steps(encoder), images(), RunOptions(tmp_path / "run"))
    net, decoder = load_checkpoint(encoder), load_decoder_checkpoint(tmp_path / "run" / "checkpoint.safetensors")
    other = reconstruction_loss(net, decoder, images().test.tensors(torch.float32, "cpu")[0].numpy())
    mse = other["mse"].values
    assert found["test_mse"] == pytest.approx(mse.mean(), rel=1e-5)
    assert found["test_rescaled_mse"] == pytest.approx(float(other["rescaled_mse"][0]), rel=1e-5)
    assert (found["test_n"], found["test_batches"]) == (4, 1)
    expected = scipy.stats.norm.interval(0.95, mse.mean(), scipy.stats.sem(mse))
    assert found["test_mse_interval"] == pytest.approx(expected, rel=1e-4)


def test_an_error_over_several_batches_is_that_of_all_images(tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.training.measure.BATCH", 3)
    net = load_checkpoint(small_encoder(tmp_path / "net.safetensors"))
    decoder, test = build_decoder(net.spec), images().train
    found, more = measure_reconstruction(Reconstruction(decoder, net), test, Processes())
    other = reconstruction_loss(net, decoder, test.tensors(torch.float32, "cpu")[0].numpy(), batch_size=3)
    assert more["batches"] == 3
    assert more["rescaled_mse"] == pytest.approx(float(other["rescaled_mse"].mean()), rel=1e-5)
    assert found.loss == pytest.approx(float(other["mse"].mean()), rel=1e-5)


def test_an_error_that_does_not_exist_is_left_out(tmp_path):
    net = load_checkpoint(small_encoder(tmp_path / "net.safetensors"))
    decoder = build_decoder(net.spec)
    with torch.no_grad():
        decoder.colour.bias.fill_(torch.nan)
    found, more = measure_reconstruction(Reconstruction(decoder, net), images().test, Processes())
    assert more == {"batches": 1}
    assert set(named(two_steps(Path("net")), found, "test")) == {"test_n", "test_nfe", "test_failed"}
