"""Names of files that are no UTF-8 are recorded, stored, shown and gone on with; what cannot be stored becomes "?"."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import dcnbio
from dcnbio.images.npz import open_npz
from dcnbio.recording import BlockLayout, RecordingLayout

NAME = os.fsdecode(b"b\xe9po")


@pytest.fixture
def folder(tmp_path):
    """Two classes of another set, one image each, in a folder; no name of them is UTF-8."""
    root = tmp_path / NAME
    try:
        for number in range(2):
            below = root / f"{NAME}{number}"
            below.mkdir(parents=True)
            Image.fromarray(np.full((32, 32, 3), number, np.uint8)).save(below / f"{NAME}.png")
    except OSError:
        pytest.skip("this system has no such names")
    return root


@pytest.mark.parametrize("out", ["run.zarr", "run.nc", None])
@pytest.mark.parametrize("single", [False, True])
def test_recordings_hold_such_names(folder, tmp_path, out, single):
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.1, classes=1 if single else 2)
    net.source["file"] = f"{NAME}.pth"
    data = dcnbio.load_images(folder / f"{NAME}0" / f"{NAME}.png" if single else folder)
    path = None if out is None else tmp_path / f"{NAME}{out}"
    with dcnbio.probe(net, data, times=2, out=path, batch_size=1) as tree:
        assert tree["file"].values.tolist() == (["b?po.png"] if single else ["b?po0/b?po.png", "b?po1/b?po.png"])
        assert single or tree["class"].values.tolist() == ["b?po0", "b?po1"]
        names = json.loads(tree.attrs["provenance"])["names"]
        assert names["network"]["file"] == "b?po.pth"
        assert "b?po" in names["images"]
    if out == "run.zarr":
        assert dcnbio.probe(net, data, times=2, out=path, batch_size=1, resume=True).attrs["complete"]


def test_the_command_takes_such_names_and_prints_what_it_can(folder):
    places = ["--images", str(folder), "--out", f"{folder}.zarr"]
    command = [sys.executable, "-m", "dcnbio", "probe", *places, "--times", "2", "--integration-time", "0.1"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "b?po" in done.stdout.decode()


def test_names_of_other_sources_become_text_that_can_be_stored(tmp_path):
    layout = RecordingLayout([0], [0], [NAME], [NAME], [BlockLayout("block1", [0.0], (1, 1, 1))], 1)
    assert (layout.files, layout.class_names) == (("b?po",), ("b?po",))
    images = np.zeros((1, 32, 32, 3), np.uint8)
    np.savez(tmp_path / "a.npz", images=images, labels=[0], files=[NAME], class_names=[NAME])
    found = open_npz(tmp_path / "a.npz")
    assert (found.files, found.class_names) == (("b?po",), ("b?po",))
