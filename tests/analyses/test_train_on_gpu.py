"""The prepared script trains two networks, each by its recipe and in its share of the minutes, and goes on."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import numpy as np
import pytest
import train_on_gpu
from PIL import Image
from recorded_command import gives, recipe_of

from dcnbio.model.checkpoint import read_header
from dcnbio.training import read_recipe
from dcnbio.training.recipe_differences import recorded_recipe

ANALYSES = Path(train_on_gpu.__file__).parent

# where neither labelled arrays, nor their store, nor the command line are installed
SCRIPT = textwrap.dedent("""
    import json
    import sys
    from importlib.machinery import PathFinder

    ABSENT = {"dask", "distributed", "xarray", "zarr", "cyclopts", "matplotlib", "seaborn", "h5netcdf"}

    class Elsewhere(PathFinder):
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            return None if name.split(".")[0] in ABSENT else super().find_spec(name, path, target)

    sys.meta_path[:] = [Elsewhere if finder is PathFinder else finder for finder in sys.meta_path]
    import torch
    import train_on_gpu

    torch.set_num_threads(1)
    for arguments in json.loads(sys.argv[1]):
        train_on_gpu.main(arguments)
        print("-- end of a call", flush=True)
""")

SMALL = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", "batch_size=8", "held_out=0"]


def archive(path: Path, split: str, each: int, seed: int) -> Path:
    """Make a .tar.xz of noisy images, so many of each of two classes, in folders named after split and class."""
    random = np.random.default_rng(seed)
    with tarfile.open(path, "w:xz") as file:
        for label in range(2):
            for number in range(each):
                content = io.BytesIO()
                Image.fromarray(random.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(content, "PNG")
                entry = tarfile.TarInfo(f"{split}/class{label}/{number:04d}.png")
                entry.size = content.tell()
                content.seek(0)
                file.addfile(entry, content)
    return path


def test_two_networks_are_trained_from_an_archive_one_after_the_other(tmp_path):
    # few to be tested on, so that the shortest time is enough
    archive(tmp_path / "test.tar.xz", "test", 1, seed=1)
    images = archive(tmp_path / "train.tar.xz", "train", 20, seed=0)
    begun = ["--images", str(images), "--out", str(tmp_path), "--minutes", "0.03"]
    begun += ["--device", "cpu", *(part for setting in SMALL for part in ("--set", setting))]
    calls = json.dumps([[*begun, "--stop-minutes", "0"], begun])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, calls],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ANALYSES,
        env={"PYTHONPATH": str(ANALYSES.parent), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    first, second, _ = done.stdout.split("-- end of a call")
    assert "dcn-ode was stopped before its end; the same command goes on with it" in first
    assert "dcn-sigma-ji" not in first
    assert first.index("dcn-ode: 0.018 minutes, ") == 0
    assert "dcn-sigma-ji: 0.012 minutes, " in second
    assert "dcn-ode: " not in second
    found = [json.loads(line) for line in second.splitlines() if line.startswith('{"model"')]
    assert [(one["model"], one["finished"]) for one in found] == [("dcn-ode", True), ("dcn-sigma-ji", True)]
    for model, name, command in (
        ("dcn-ode", "budget", [*begun, "--stop-minutes", "0"]),
        ("dcn-sigma-ji", "budget_pairs", begun),
    ):
        recipe = read_header(tmp_path / model / "checkpoint.safetensors").recipe
        assert recipe["command"] == shlex.join(["python", "analyses/train_on_gpu.py", *command])
        assert recipe["name"] == read_recipe(ANALYSES / "recipes" / f"{name}.toml").name
        assert gives(recipe["command"], recorded_recipe(recipe))


def test_the_minutes_are_shared_as_is_stated_whichever_networks_are_trained():
    both = ["dcn-ode", "dcn-sigma-ji"]
    assert [train_on_gpu.share(model, both) for model in both] == [0.6, 0.4]
    assert train_on_gpu.share("dcn-sigma-ji", ["dcn-sigma-ji"]) == 1
    assert train_on_gpu.share("ode-net", ["ode-net", "dcn-ode"]) == 0.5
    assert "dcn-ode has 60 % of the minutes" in train_on_gpu.__doc__


@pytest.mark.parametrize(("more", "found"), [("--minutes 5", True), ("--passes 256", False)])
def test_a_command_of_minutes_gives_its_recipe_whatever_the_passes_became(more, found):
    command = f"dcnbio train --recipe analyses/recipes/budget.toml --images a --out b {more}"
    recipe = recipe_of("dcnbio train --recipe analyses/recipes/budget.toml --images a --out b --passes 999")
    assert gives(command, recipe) == found
