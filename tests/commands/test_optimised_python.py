"""Python without its assertions (-O) refuses and ends alike: nothing is guarded by an assertion."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import dcnbio
from dcnbio.commands.app import run

OPTIONS = ["--limit", "2", "--times", "2", "--blocks", "3", "--integration-time", "0.2"]
PROBES = [
    ["probe", *OPTIONS, "--out", "run.zarr"],  # is there
    ["probe", *OPTIONS, "--out", "new.zarr", "--times", "1"],
    ["probe", *OPTIONS, "--out", "new.zarr", "--batch-size", "0"],
    ["probe", *OPTIONS, "--out", "new.zarr", "--rtol", "nan"],
    ["probe", *OPTIONS, "--out", "new.zarr", "--channels", "999"],
    ["probe", "--sing"],
    ["probe", *OPTIONS, "--out", "new.zarr", "--checkpoint", "nan.safetensors"],
    ["info", "cut.zarr"],
    ["export", "cut.zarr", "h.npy"],
    ["info", "none.zarr"],
    ["probe", *OPTIONS, "--out", "limit.zarr", "--max-steps", "1"],
]
SCRIPT = """
import json, sys
from dcnbio.commands.app import run
if __debug__:
    sys.exit("assertions are on")
for arguments in json.loads(sys.argv[1]):
    sys.stderr.write(f"status {run(arguments)}\\n")
"""


def optimised(*arguments):
    """Run Python without assertions."""
    command = [sys.executable, "-O", "-W", "ignore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture
def _stores(tmp_path, monkeypatch):
    """Record with assertions off, by the real command; then a damaged copy, and a checkpoint that is no number."""
    monkeypatch.chdir(tmp_path)
    done = optimised("-m", "dcnbio", "probe", *OPTIONS, "--out", "run.zarr", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["images"] == 2
    shutil.copytree("run.zarr", "cut.zarr")
    largest = max((tmp_path / "cut.zarr").rglob("*"), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-1])
    net = dcnbio.build("dcn-ode", widths=(8, 16, 16), norm_groups=4)
    dcnbio.save(net, "nan.safetensors")
    with safetensors.safe_open("nan.safetensors", "numpy") as file:
        about, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    first = sorted(tensors)[0]
    tensors[first] = np.full_like(tensors[first], np.nan)
    safetensors.numpy.save_file(tensors, "nan.safetensors", about)


@pytest.mark.usefixtures("_stores")
def test_refusals_and_statuses_are_the_same_without_assertions(capfd, tmp_path):
    done = optimised("-c", SCRIPT, json.dumps(PROBES))
    assert done.returncode == 0, done.stderr
    limited = tmp_path / "limit.zarr"
    assert limited.is_dir()
    limited.rename(tmp_path / "without.zarr")
    capfd.readouterr()
    statuses = [run(arguments) for arguments in PROBES]
    assert statuses == [2] * (len(PROBES) - 1) + [3]
    sentences = [line for line in done.stderr.splitlines() if not line.startswith("status")]
    assert sentences == capfd.readouterr().err.splitlines()
    assert [int(line[7:]) for line in done.stderr.splitlines() if line.startswith("status")] == statuses
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new.zarr").exists()
    assert dcnbio.open("run.zarr").sizes["stimulus"] == 2


def test_no_module_of_ours_asserts():
    for path in Path(dcnbio.__file__).parent.rglob("*.py"):
        statements = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        lines = [node.lineno for node in statements if isinstance(node, ast.Assert)]
        assert not lines, f"{path} asserts in line {lines[0]}, which python -O leaves out"
