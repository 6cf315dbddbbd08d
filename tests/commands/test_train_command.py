"""``dcnbio train`` as a person runs it: a small run, its files, and its plot."""

from __future__ import annotations

import json

import numpy as np
from PIL import Image

from dcnbio.commands.app import run

SETTINGS = [
    *("--set", "network.widths=[4]"),
    *("--set", "network.norm_groups=4"),
    *("--set", "network.integration_time=0.1"),
    *("--set", 'phases=[{gradient="exact"}]'),
    *("--set", "batch_size=10"),
    *("--set", "epochs=2"),
    *("--set", "held_out=20"),
]


def images(path):
    random = np.random.default_rng(0)
    pixels, labels = random.integers(0, 255, (60, 3, 32, 32), dtype=np.uint8), np.arange(60) % 10
    np.savez(path, images=pixels, labels=labels)
    return str(path)


def test_a_run_leaves_checkpoint_metrics_and_curves(tmp_path, capsys):
    out = tmp_path / "run"
    arguments = ["train", "--images", images(tmp_path / "set.npz"), "--out", str(out), "--model", "dcn-ode", *SETTINGS]
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["finished"]
    assert found["held_out_n"] == 20
    assert {path.name for path in out.iterdir()} == {"run.json", "metrics.csv", "curves.png", "checkpoint.safetensors"}
    with Image.open(out / "curves.png") as curves:
        assert curves.size[0] == round(7.5 * 192)
    assert run([*arguments, "--json"]) == 2
    assert "holds a run already" in capsys.readouterr().err


def test_every_filters_scale_is_kept_as_often_as_is_said(tmp_path, capsys):
    arguments = ["train", "--images", images(tmp_path / "set.npz"), "--model", "dcn-sigma-ji", *SETTINGS, "--json"]
    out = tmp_path / "often"
    assert run([*arguments, "--set", "look=0", "--scales-every", "1", "--out", str(out)]) == 0
    assert len(list((out / "log2_sigma").iterdir())) == 3  # before training, and after each of two epochs
    assert run([*arguments, "--scales-every", "0", "--out", str(tmp_path / "never")]) == 2
    assert "scales_every is 0; allowed are whole numbers from 1 on" in capsys.readouterr().err
    assert not (tmp_path / "never").exists()
