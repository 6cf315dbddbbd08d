"""Train for a given number of minutes on a machine without a network, saving every minute; run again to go on.

It needs torch, torchdiffeq, numpy, safetensors and pillow alone::

    PYTHONPATH=. python analyses/train_on_gpu.py --model dcn-ode --images train.tar.xz --out runs/dcn-ode --minutes 50
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from dcnbio.training import RunOptions, read_recipe, train, with_settings
from dcnbio.training.images import read_training_images
from dcnbio.training.timing import recipe_for_minutes

RECIPE = Path(__file__).parent / "recipes" / "budget.toml"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="dcn-ode")
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--images", required=True, help="train.tar.xz; test.tar.xz is looked for beside it")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="turned into passes when the run begins")
    parser.add_argument("--stop-minutes", type=float, help="stop after this time, saved, to be gone on with")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    return parser.parse_args()


class Printer:
    """Prints a line every half minute, and one for each epoch."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of a step or of an epoch."""
        if "total_steps" not in figures or time.monotonic() - self.last > 30:
            self.last = time.monotonic()
            print({name: value for name, value in figures.items() if "log2_sigma" not in name}, flush=True)


def main() -> None:
    chosen = options()
    # a run of minutes is no place for the slower matrix products of full single precision
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    images = read_training_images(chosen.images)
    resume, recipe = (chosen.out / "run.json").exists(), None
    if not resume:
        recipe = with_settings(read_recipe(chosen.recipe), [f"model={chosen.model}", *chosen.set])
        recipe, speed = recipe_for_minutes(recipe, images, chosen.minutes, chosen.device)
        print(f"{recipe.optimisation.passes} passes; seconds per image {speed}", flush=True)
    run = RunOptions(
        chosen.out, chosen.device, resume=resume, save_minutes=1.0, stop_minutes=chosen.stop_minutes, command="gpu"
    )
    print(json.dumps(train(recipe, images, run, Printer())))


if __name__ == "__main__":
    main()
