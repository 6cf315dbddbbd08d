"""A run that was stopped, by whatever it was, goes on where it stopped and ends with the same bits."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest
import torch
from safetensors.torch import load_file

from dcnbio.errors import InputError
from dcnbio.model.checkpoint import read_header
from dcnbio.training import RunOptions, train


def wait_for_step(process: subprocess.Popen[str], step: int) -> None:
    for line in process.stdout:
        if int(line) >= step:
            return
    raise RuntimeError(process.stderr.read())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_goes_on_to_the_same_bits(small, start_run, uninterrupted, tmp_path, number):
    process = start_run(tmp_path)
    # three batches of 16 make an epoch: the eighth step is inside the third
    wait_for_step(process, 8)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode in (-number, 1, 130)
    assert (tmp_path / "state.safetensors").exists()
    reached = small.progress(tmp_path)["step"]
    assert 7 <= reached < 18
    figures = train(None, small.images(), RunOptions(tmp_path, resume=True))
    assert figures["passes"] == 18 * 16
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    timed = {"seconds", "images_per_second"}
    for one, other in zip(small.rows(uninterrupted), small.rows(tmp_path), strict=True):
        assert {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}


def test_pieces_of_time_add_up_to_the_same_run(small, uninterrupted, tmp_path):
    made, pieces = small.long_recipe(), 0
    figures = train(made, small.images(), RunOptions(tmp_path, stop_minutes=0.0))
    while figures is None:
        pieces += 1
        figures = train(None, small.images(), RunOptions(tmp_path, resume=True, stop_minutes=0.0))
    assert pieces == 18
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


@pytest.mark.parametrize("saved", [True, False])
def test_a_run_that_goes_on_keeps_the_command_it_was_begun_with(small, tmp_path, saved):
    train(small.recipe("epochs=1"), small.images(), RunOptions(tmp_path, stop_minutes=0.0, command="train --epochs 1"))
    if not saved:
        (tmp_path / "state.safetensors").unlink()
    train(None, small.images(), RunOptions(tmp_path, resume=True, stop_minutes=0.0, command="train --resume"))
    assert json.loads((tmp_path / "run.json").read_text())["command"] == "train --epochs 1"
    train(None, small.images(), RunOptions(tmp_path, resume=True, command="train --resume"))
    assert json.loads((tmp_path / "run.json").read_text())["command"] == "train --epochs 1"
    assert read_header(tmp_path / "checkpoint.safetensors").recipe["command"] == "train --epochs 1"


def test_resuming_asks_for_the_same_recipe_and_images(small, tmp_path):
    with pytest.raises(InputError, match="holds no run to go on with"):
        train(None, small.images(), RunOptions(tmp_path, resume=True))
    train(small.recipe("epochs=2"), small.images(), RunOptions(tmp_path, stop_minutes=0.0))
    with pytest.raises(InputError, match=r"has another recipe \(optimisation differ\)"):
        train(small.recipe("epochs=3"), small.images(), RunOptions(tmp_path, resume=True))
    with pytest.raises(InputError, match="was begun with other images"):
        train(None, small.images(48), RunOptions(tmp_path, resume=True))
    with pytest.raises(InputError, match="holds a run already"):
        train(small.recipe("epochs=2"), small.images(), RunOptions(tmp_path))
    (tmp_path / "state.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match="is no state of this run"):
        train(None, small.images(), RunOptions(tmp_path, resume=True))


def test_a_finished_run_has_nothing_left_to_do(small, tmp_path):
    figures = train(small.recipe("epochs=1"), small.images(), RunOptions(tmp_path))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir() if path.is_file()}
    seen: list[object] = []
    again = train(None, small.images(), RunOptions(tmp_path, resume=True), seen.append)
    assert again == json.loads(json.dumps(figures))
    assert seen == []
    assert before == {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p.is_file()}
    with pytest.raises(InputError, match="was begun with other images"):
        train(None, small.images(48), RunOptions(tmp_path, resume=True))


def test_overwriting_begins_anew(small, tmp_path):
    train(small.recipe("epochs=1"), small.images(), RunOptions(tmp_path))
    train(small.recipe("epochs=2"), small.images(), RunOptions(tmp_path, overwrite=True))
    assert len(small.rows(tmp_path)) == 2
