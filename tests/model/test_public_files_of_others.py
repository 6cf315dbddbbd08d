"""Public .pth files as they come: saved on a GPU, or with a weight that is no number."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch

import dcnbio
from dcnbio.errors import CheckpointError

REFERENCE = Path(__file__).parents[1] / "reference" / "dcn_ode.pth"


def saved_on_a_gpu(path: Path) -> Path:
    """Copy the reference as a GPU would have saved it: every storage's tag, a string of the pickle, says cuda:0."""
    with zipfile.ZipFile(REFERENCE) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as copy:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith("data.pkl"):
                # each string is BINUNICODE: X, its length in four bytes, its letters
                assert b"X\x03\x00\x00\x00cpu" in content
                content = content.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            copy.writestr(name, content)
    return path


def test_a_file_saved_on_a_gpu_loads_without_one(tmp_path):
    path = saved_on_a_gpu(tmp_path / "gpu.pth")
    places = []
    torch.load(path, weights_only=False, map_location=lambda storage, place: places.append(place) or storage)
    assert set(places) == {"cuda:0"}
    here, there = dcnbio.load(REFERENCE, model="dcn-ode"), dcnbio.load(path, model="dcn-ode")
    for name, value in here.state_dict().items():
        assert there.state_dict()[name].device.type == "cpu"
        assert torch.equal(value, there.state_dict()[name])


def test_a_weight_that_is_no_number_is_named_as_in_the_file_and_as_here(tmp_path):
    content = torch.load(REFERENCE, map_location="cpu", weights_only=False)
    content["state_dict"]["1.odefunc.conv1._layer.alphas"][0, 0, 0] = torch.nan
    torch.save(content, tmp_path / "nan.pth")
    with pytest.raises(CheckpointError) as refused:
        dcnbio.load(tmp_path / "nan.pth", model="dcn-ode")
    text = str(refused.value)
    count = content["state_dict"]["1.odefunc.conv1._layer.alphas"].numel()
    named = f"1.odefunc.conv1._layer.alphas, here blocks.0.field.conv1.alpha.offset (1 of {count} values)"
    assert f"non-finite weights in {named}; " in text
