"""A decoder's run keeps the hash of its encoder's weights: in the checkpoint, and in the record it goes on from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import load_checkpoint, read_header, save_checkpoint
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.network import build
from dcnbio.model.weights import weights_id
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.images import LabelledImages, TrainingImages

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
