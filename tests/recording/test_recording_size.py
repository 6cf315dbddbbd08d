from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcnbio.errors import RecordingError
from dcnbio.recording import BlockLayout, VariableLayout, check_free_space, estimate_bytes, human_bytes

DCN_ODE = (("block1", (32, 30, 30)), ("block2", (64, 15, 15)), ("block3", (128, 7, 7)))


def test_the_whole_test_set_at_fifty_times_is_99_gigabytes(run):
    blocks = [BlockLayout(name, np.linspace(0, 2, 50), shape) for name, shape in DCN_ODE]
    plan = run.layout(n=10_000, batch_size=100, blocks=blocks)
    assert human_bytes(estimate_bytes(plan)) == "98.9 GB"
    assert human_bytes(estimate_bytes(run.layout(n=100, batch_size=100, blocks=blocks))) == "989 MB"


def test_the_estimate_is_near_what_is_written(run, write, tmp_path):
    extra = (VariableLayout("variance", ("time", "channel"), "float64", "spatial variance", "1"),)
    block = BlockLayout("block1", np.linspace(0, 2, 21), (8, 15, 15), extra=extra)
    plan = run.layout(n=60, batch_size=20, blocks=[block])
    write(tmp_path / "run.zarr", plan)
    written = sum(path.stat().st_size for path in (tmp_path / "run.zarr").rglob("*") if path.is_file())
    assert 0.8 < written / estimate_bytes(plan) < 1.05


def test_a_map_that_is_not_stored_takes_no_room(run):
    block = BlockLayout("block1", np.linspace(0, 2, 50), (32, 30, 30), store_h=False)
    assert estimate_bytes(run.layout(n=1000, blocks=[block])) < 1e6


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (999_600, "1 MB"), (1_500_000, "1.5 MB"), (3e15, "3000 TB")],
)
def test_bytes_are_written_for_people(count, text):
    assert human_bytes(int(count)) == text


def test_a_disk_without_room_is_refused(tmp_path):
    check_free_space(tmp_path / "not" / "yet" / "run.zarr", 1)
    with pytest.raises(RecordingError, match=r"run.zarr needs 1000000 TB and .* free; free some space"):
        check_free_space(tmp_path / "run.zarr", 10**18)


def test_recordings_need_no_torch():
    script = """
import sys
sys.modules["torch"] = None
import dcnbio.recording
assert "h5netcdf" not in sys.modules and "dask" not in sys.modules
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root, timeout=60)
