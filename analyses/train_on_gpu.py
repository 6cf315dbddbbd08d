"""Train dcn-ode and then dcn-sigma-ji within given minutes, on a machine without a network; run again to go on.

It needs torch, torchdiffeq, numpy, safetensors and pillow alone::

    PYTHONPATH=. python analyses/train_on_gpu.py --images train.tar.xz --out runs --minutes 60
    PYTHONPATH=. python analyses/train_on_gpu.py --images train.tar.xz --out runs --minutes 60 --models dcn-ode

dcn-ode has 60 % of the minutes, by recipes/budget.toml, and dcn-sigma-ji 40 %, by recipes/budget_pairs.toml; of others,
each has as many as dcn-ode, by budget.toml. A network's minutes become passes when its run begins, in the folder of its
name, which is saved every minute. The same command goes on where it was stopped, and passes what has finished.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from dcnbio.training import Recipe, RunOptions, read_recipe, train, with_settings
from dcnbio.training.images import TrainingImages, read_training_images
from dcnbio.training.timing import recipe_for_minutes

RECIPES = Path(__file__).parent / "recipes"
OWN = {"dcn-sigma-ji": "budget_pairs.toml"}
WEIGHTS = {"dcn-ode": 0.6, "dcn-sigma-ji": 0.4}
PROGRAM = ("python", "analyses/train_on_gpu.py")


def options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(WEIGHTS), help="in this order [default: %(default)s]")
    parser.add_argument("--recipe", type=Path, help="a .toml file for all of them, in place of their own")
    parser.add_argument("--images", required=True, help="train.tar.xz; test.tar.xz is looked for beside it")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the runs, each named after its network")
    parser.add_argument("--minutes", type=float, required=True, help="for all networks together")
    parser.add_argument("--stop-minutes", type=float, help="stop after this time, saved, to be gone on with")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="in all recipes")
    return parser.parse_args(arguments)


def share(model: str, models: Sequence[str]) -> float:
    """Give the part of the minutes that a network has."""
    weights = {name: WEIGHTS.get(name, WEIGHTS["dcn-ode"]) for name in models}
    return weights[model] / sum(weights.values())


def recipe_for(model: str, chosen: argparse.Namespace) -> Recipe:
    """Give a network's recipe, with the passes of its file still."""
    path = chosen.recipe or RECIPES / OWN.get(model, "budget.toml")
    return with_settings(read_recipe(path), [f"model={model}", *chosen.set])


class Printer:
    """Prints a line every half minute, and one for each epoch."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of a step or of an epoch."""
        if "total_steps" not in figures or time.monotonic() - self.last > 30:
            self.last = time.monotonic()
            print({name: value for name, value in figures.items() if "log2_sigma" not in name}, flush=True)


def train_one(
    model: str, chosen: argparse.Namespace, images: TrainingImages, left: float | None, command: str
) -> dict[str, Any] | None:
    """Begin a network's run or go on with it; None if it was stopped before its end."""
    out, recipe = chosen.out / model, None
    resume = (out / "run.json").exists()
    if not resume:
        minutes = chosen.minutes * share(model, chosen.models)
        recipe, speed = recipe_for_minutes(recipe_for(model, chosen), images, minutes, chosen.device)
        passes = recipe.optimisation.passes
        print(f"{model}: {minutes:.3g} minutes, {passes} passes; seconds per image {speed}", flush=True)
    run = RunOptions(out, chosen.device, resume=resume, save_minutes=1.0, stop_minutes=left, command=command)
    return train(recipe, images, run, Printer())


def main(arguments: Sequence[str]) -> None:
    chosen, started = options(arguments), time.monotonic()
    # a run of minutes is no place for the slower matrix products of full single precision
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    images = read_training_images(chosen.images)
    for model in chosen.models:
        spent = (time.monotonic() - started) / 60
        left = None if chosen.stop_minutes is None else max(0.0, chosen.stop_minutes - spent)
        figures = train_one(model, chosen, images, left, shlex.join([*PROGRAM, *arguments]))
        if figures is None:
            print(f"{model} was stopped before its end; the same command goes on with it", flush=True)
            return
        print(json.dumps({"model": model, **figures}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
