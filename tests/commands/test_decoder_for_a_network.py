"""Where a network is wanted and a decoder is named, each command says for which network it is and what loads it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import dcnbio
from dcnbio.commands.app import run
from dcnbio.errors import CheckpointError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import save_decoder
from dcnbio.model.network import build
from dcnbio.model.weights import weights_id

REFERENCE = Path(__file__).parents[1] / "reference"
SMALL = {"widths": (4, 4, 8), "norm_groups": 4, "integration_time": 0.1}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def weights(tmp_path) -> str:
    """Save a decoder as back.safetensors; give the hash of its network's weights."""
    net = build("dcn-ode", seed=0, **SMALL)
    decoder = build_decoder(net.spec)
    decoder.source = {"encoder": "dcn-ode", "encoder_weights": weights_id(net.state_dict())}
    save_decoder(decoder, tmp_path / "back.safetensors", metrics={"test_mse": 0.0123, "test_n": 4})
    return decoder.source["encoder_weights"]


def said_of(weights: str, file: str = "back.safetensors") -> str:
    return (
        f"{file} holds a decoder and no network (trained on the network dcn-ode with weights {weights}); give that "
        "network here, and load the decoder with dcnbio.model.decoder_checkpoint.load_decoder_checkpoint"
        f"('{file}')."
    )


def test_load_says_so(weights):
    with pytest.raises(CheckpointError) as caught:
        dcnbio.load("back.safetensors")
    assert str(caught.value) == said_of(weights)


@pytest.mark.parametrize(
    "command",
    [
        ["probe", "--limit", "10", "--checkpoint", "back.safetensors"],
        ["evaluate", "--limit", "10", "--checkpoint", "back.safetensors"],
        ["check-solver", "--limit", "10", "--checkpoint", "back.safetensors"],
        ["report", "--checkpoint", "back.safetensors"],
        ["analyze", "scales", "back.safetensors"],
        ["analyze", "completion", "back.safetensors"],
        ["analyze", "contrast", "back.safetensors"],
        ["analyze", "primate", "back.safetensors"],
        ["analyze", "responses", "back.safetensors"],
        ["train", "--images", "set.npz", "--out", "run", "--start", "back.safetensors"],
        [
            "train",
            "--images",
            "set.npz",
            "--out",
            "run",
            "--set",
            "task=reconstruction",
            "--set",
            "encoder=back.safetensors",
        ],
    ],
    ids=lambda command: " ".join(command[:2]) + " " + command[-1].partition("=")[0],
)
def test_every_command_says_so_and_writes_nothing(weights, tmp_path, capfd, command):
    if command[0] == "train":
        random = np.random.default_rng(0)
        np.savez("set.npz", images=random.integers(0, 255, (8, 3, 32, 32), dtype=np.uint8), labels=np.arange(8) % 2)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert run(command) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [f"dcnbio: {said_of(weights)}"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_figures_of_a_decoder_want_the_network_it_was_trained_on(weights, tmp_path, capfd):
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert run(["figures", "back.safetensors"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"dcnbio: decoder was trained on the network dcn-ode with weights {weights}, but net has ")
    assert len(err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_info_describes_it(weights, capfd):
    assert run(["info", "back.safetensors", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["kind"], found["metrics"]["test_mse"], found["source"]["encoder_weights"]) == (
        "decoder",
        0.0123,
        weights,
    )
    assert run(["info", "back.safetensors"]) == 0
    assert f"maps of a dcn-ode network, trained on the network dcn-ode with weights {weights}" in capfd.readouterr().out


def test_a_decoder_of_the_public_code_is_refused_as_one(capfd):
    assert run(["evaluate", "--limit", "10", "--checkpoint", str(REFERENCE / "decoder_dcn_ode.pth")]) == 2
    err = capfd.readouterr().err
    assert "decoder_dcn_ode.pth holds a decoder of the public code and no network (for one of " in err
    assert " dcn-ode" in err.partition("for one of")[2].partition(";")[0]
    assert "load the decoder with dcnbio.model.decoder.load_decoder(path, net.spec)" in err


def test_a_shipped_decoders_name_is_known_for_one(weights, tmp_path, monkeypatch, capfd):
    import importlib

    from dcnbio.images.manifest import write_manifest

    root = tmp_path / "data"
    for folder in ("checkpoints", "decoders"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "back.safetensors").rename(root / "decoders" / "back.safetensors")
    write_manifest(root)
    monkeypatch.setattr("dcnbio.model.loading.data_root", lambda: root)
    monkeypatch.setattr(importlib.import_module("dcnbio.images.shipped"), "data_root", lambda: root)
    assert run(["evaluate", "--checkpoint", "back", "--limit", "10"]) == 2
    assert said_of(weights, str(root / "decoders" / "back.safetensors")) in capfd.readouterr().err
    assert run(["info", "back"]) == 0
