"""A network in the folder of its run is called by the folder: every run calls its checkpoint the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcnbio.commands.named_checkpoints import short_name, short_names
from dcnbio.commands.probe import What, Where, target


@pytest.mark.parametrize("given", ["lr0.1", "lr0.1/checkpoint.safetensors"])
def test_a_run_is_called_by_its_folder(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    Path("lr0.1").mkdir()
    assert short_name(given) == "lr0.1"
    assert target(What(checkpoint=given), Where(), shard=False) == Path("lr0.1.zarr")


def test_two_runs_are_told_apart():
    runs = ["a/checkpoint.safetensors", "b/checkpoint.safetensors"]
    assert short_names(runs) == dict(zip(runs, "ab", strict=True))
    alike = ["x/a/checkpoint.safetensors", "y/a/checkpoint.safetensors"]
    assert short_names(alike) == {name: name for name in alike}
