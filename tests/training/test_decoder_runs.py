"""A decoder's run keeps the hash of its encoder's weights: in the checkpoint, and in the record it goes on from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
