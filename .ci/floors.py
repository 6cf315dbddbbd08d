"""Install the lowest versions that pyproject.toml allows, and use dcnbio with them, from help to figures.

A floor that is too low shows only here: the usual environment has the newest versions. It needs a package index, some
minutes, and for PyTorch's floor a few GB; ``--torch 2.13.0`` takes another version, and leaves that floor untested.

    python .ci/floors.py /tmp/floors
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("dask",)
TESTERS = ("pytest", "pytest-xdist", "hypothesis", "beartype", "distributed==2025.1")
USES = (
    "--help",
    "info dcn-ode",
    "probe --limit 4 --times 5 --out run.zarr",
    "probe --limit 2 --times 3 --mask 14 --out masked.nc",
    "export run.zarr h.npy",
    "evaluate --limit 4 --checkpoint dcn-ode",
    "analyze scales --resamples 99 --out scales.nc",
    "figures run.zarr scales.nc --out figures",
    "check-solver --help",
    "train --help",
)
ROOMS = ("tests/images", "tests/recording")
OTHERWISE = {
    "test_areas_are_exact_at_any_sub_pixel_position": "older packages round a last digit the other way",
    "test_a_flipped_byte_of_any_variable_is_told_with_its_name": "an older xarray finds the damage as it opens",
}
"""Tests of what is otherwise with the lowest versions, and is no fault."""


def floors(requirements: list[str]) -> list[str]:
    """Give the lowest version that each requirement allows, as pip takes it.

    Examples
    --------
    >>> floors(["numpy>=2.2", "dask[array]>=2025.1", "torch>=2.6,<2.14"])
    ['numpy==2.2', 'dask==2025.1', 'torch==2.6']
    """
    found = []
    for line in requirements:
        parts = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)(?:,<[\w.]+)?", line)
        if parts is None:
            raise SystemExit(f"{line!r} of pyproject.toml names no lowest version as NAME>=VERSION.")
        found.append(f"{parts[1]}=={parts[2]}")
    return found


def lowest(torch: str | None) -> list[str]:
    """Read the floors of pyproject.toml, with another PyTorch if one is given."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    found = floors([*project["dependencies"], *extras])
    return [f"torch=={torch}" if torch and one.startswith("torch==") else one for one in found]


def step(command: list[str | Path], folder: Path) -> None:
    """Run one command, shown, in a folder that holds no dcnbio of its own; end with its status if it fails."""
    print("+", *command, flush=True)
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    status = subprocess.run([str(part) for part in command], cwd=folder, env=plain, check=False).returncode
    if status:
        raise SystemExit(status)


def main() -> None:
    """Make the environment, use the commands, and test the rooms that rest most on others' packages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the environment and what the commands write go")
    parser.add_argument("--torch", help="this version of PyTorch in place of its floor")
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True)
    pins, python = lowest(chosen.torch), folder / "venv/bin/python"
    step([sys.executable, "-m", "venv", folder / "venv"], folder)
    step([python, "-m", "pip", "install", "-q", *pins, ROOT, *TESTERS], folder)
    step([python, "-m", "pip", "list"], folder)
    for use in USES:
        step([python, "-m", "dcnbio", *use.split()], folder)
    # warnings of old versions about other old ones are no faults of dcnbio
    quiet = ["-o", "filterwarnings=default", "-p", "no:cacheprovider"]
    leave = ["-k", " and ".join(f"not {name}" for name in OTHERWISE)]
    step([python, "-m", "pytest", "-q", *quiet, *leave, "--rootdir", ROOT, *(ROOT / room for room in ROOMS)], folder)
    print("works with", *pins)


if __name__ == "__main__":
    main()
