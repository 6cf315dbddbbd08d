"""Training runs where neither labelled arrays, nor their store, nor the command line are installed."""

import subprocess
import sys
import textwrap

SCRIPT = textwrap.dedent("""
    import sys
    from importlib.machinery import PathFinder
    from pathlib import Path

    ABSENT = {"dask", "distributed", "xarray", "zarr", "cyclopts", "matplotlib", "seaborn", "h5netcdf"}

    class Elsewhere(PathFinder):  # finds no spec, as where a package is not installed: torch itself asks for some
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            return None if name.split(".")[0] in ABSENT else super().find_spec(name, path, target)

    sys.meta_path[:] = [Elsewhere if finder is PathFinder else finder for finder in sys.meta_path]

    import numpy as np
    from dcnbio.training import Recipe, RunOptions, train, with_settings
    from dcnbio.training.images import LabelledImages, TrainingImages

    images = np.random.default_rng(0).integers(0, 256, (16, 3, 12, 12), dtype=np.uint8)
    data = TrainingImages(LabelledImages(images, np.arange(16) % 2), None, "noise", {"train": "none"})
    small = ["network.widths=[4]", "network.norm_groups=2", "network.integration_time=0.2", "batch_size=8"]
    recipe = with_settings(Recipe(), [*small, "epochs=1", "translate=1"])
    steps = []
    train(recipe, data, RunOptions(Path(sys.argv[1])), lambda figures: steps.append(figures["step"]))
    loaded = sorted(ABSENT & {name.split(".")[0] for name in sys.modules})
    print(max(steps), loaded, (Path(sys.argv[1]) / "checkpoint.safetensors").exists())
""")


def test_two_steps_are_trained_without_what_only_other_rooms_need(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "run")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "2 [] True"
