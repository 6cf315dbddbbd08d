"""``dcnbio train`` as a person runs it: a small run, its files, and its plot."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from PIL import Image

from dcnbio.commands.app import run
from dcnbio.commands.train import say_of_processes
from dcnbio.training import Recipe, with_settings

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


@pytest.mark.parametrize(
    ("count", "rank", "gradient", "said"),
    [
        ("2", "0", "adjoint", True),
        ("2", "1", "adjoint", False),
        ("2", "0", "exact", False),
        ("1", "0", "adjoint", False),
    ],
)
def test_several_processes_are_told_of_adjoint_gradients_once(monkeypatch, capsys, count, rank, gradient, said):
    monkeypatch.setenv("WORLD_SIZE", count)
    monkeypatch.setenv("RANK", rank)
    advice = """--set 'phases=[{gradient="exact"}]'"""
    say_of_processes(with_settings(Recipe(), [f'phases=[{{until=0.5, gradient="exact"}}, {{gradient="{gradient}"}}]']))
    found = capsys.readouterr().err
    assert ("note: with adjoint gradients 2 processes do not train as one does" in found) == said
    assert (advice in found) == said
    # what is advised is a setting that leaves no adjoint gradients
    assert {phase.gradient for phase in with_settings(Recipe(), [shlex.split(advice)[1]]).phases} == {"exact"}


def test_minutes_become_passes_once_and_a_run_that_goes_on_keeps_them(tmp_path, capsys):
    source, out = images(tmp_path / "set.npz"), tmp_path / "run"
    # with nothing to look at in the end, any time is enough
    length = ["--set", "held_out=0", "--minutes", "0.02", "--stop-minutes", "0"]
    others = [part for name in SETTINGS[1::2] if name != "epochs=2" for part in ("--set", name)]
    arguments = ["train", "--images", source, "--out", str(out), *others, *length]
    assert run([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["finished"] is False
    passes = json.loads((out / "run.json").read_text())["recipe"]["optimisation"]["passes"]
    assert f"0.02 minutes are {passes} passes (dopri5 0.001 exact " in printed.err
    assert 1 <= passes < 1_000_000
    go_on = ["train", "--images", source, "--out", str(out), "--resume", "--json"]
    assert run([*go_on, "--minutes", "1"]) == 2
    assert "minutes (--minutes) is given with resume, but a run keeps its passes" in capsys.readouterr().err
    assert run(go_on) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["finished"]
    assert found["passes"] == 10 * max(1, passes // 10)
    record = json.loads((out / "run.json").read_text())
    assert record["recipe"]["optimisation"]["passes"] == passes
    assert record["finished"]
