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
