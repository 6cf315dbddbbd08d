"""``dcnbio train``: train any row of the paper, by the paper's recipe or another, and go on where a run stopped."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from tqdm.std import tqdm

from dcnbio.commands.options import Json
from dcnbio.commands.output import command_text
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.training import Recipe

__all__ = ["train"]


@Parameter(name="*")
@dataclass(frozen=True)
class What:
    """What is trained: the options that are used most; `set` reaches every other setting of a recipe.

    Attributes
    ----------
    model
        A row, e.g. dcn-ode; the recipe's by default.
    recipe
        A .toml file, as those in analyses/recipes; the paper's recipe by default.
    start
        Go on from this trained network, a file or a shipped name, in place of drawn values.
    seed
        Of initial values, data order and augmentation.
    epochs, passes, minutes
        How long: rounds through the training images, images passed through, or minutes, turned into passes once.
    per_class
        Train on this many images of each class.
    held_out
        Hold this many training images out, to make choices with.
    set
        Any setting of the recipe, as name=value; may be repeated.
    """

    model: str | None = None
    recipe: Path | None = None
    start: str | None = None
    seed: int | None = None
    epochs: int | None = None
    passes: int | None = None
    minutes: float | None = None
    per_class: int | None = None
    held_out: int | None = None
    set: Annotated[list[str] | None, Parameter(negative=())] = None

    def settings(self) -> list[str]:
        """List the settings that were given, in the recipe's words."""
        names = ("model", "start", "seed", "epochs", "passes", "per_class", "held_out")
        given = {name: getattr(self, name) for name in names}
        return [f"{name}={value}" for name, value in given.items() if value is not None] + (self.set or [])

    def chosen(self) -> Recipe | None:
        """Give the recipe that was asked for; None if nothing was."""
        from dcnbio.training import Recipe, read_recipe, with_settings

        settings = self.settings()
        if self.recipe is None and not settings:
            return None
        return with_settings(Recipe() if self.recipe is None else read_recipe(self.recipe), settings)


WHAT = What()


class Bar:
    """Shows the figures of a run on one line."""

    def __init__(self, shown: bool) -> None:
        self.bar = tqdm(desc="train", unit="step", disable=not shown, leave=True)
        self.sigma = ""

    def __call__(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of a step, or of an epoch."""
        if "total_steps" not in figures:
            self.epoch(figures)
            return
        if figures.get("sigma"):
            self.sigma = " ".join(f"{value:.2f}" for value in figures["sigma"].values())
        self.bar.total = figures["total_steps"]
        self.bar.n = figures["step"]
        self.bar.set_postfix_str(
            f"epoch {figures['epoch']}, loss {figures['loss']:.3f}, {100 * figures['accuracy']:.1f} %, "
            f"NFE {figures['nfe']} + {figures['nfe_backward']}, {figures['images_per_second']:.0f} images/s"
            + (f", sigma {self.sigma}" if self.sigma else ""),
            refresh=False,
        )
        self.bar.update(0)

    def epoch(self, row: Mapping[str, Any]) -> None:
        """Print what an epoch came to."""
        if self.bar.disable or row["held_out_accuracy"] is None:
            return
        self.bar.write(
            f"epoch {row['epoch']}, {row['passes']} passes, {row['solver']}: loss {row['loss']:.3f}, "
            f"held out {100 * row['held_out_accuracy']:.1f} % with dopri5, "
            f"{100 * row['held_out_accuracy_training_solver']:.1f} % with the training solver",
            file=sys.stderr,
        )

    def close(self) -> None:
        """Leave the line."""
        self.bar.close()


def train(
    *,
    images: str,
    out: Path,
    test_images: str | None = None,
    what: What = WHAT,
    resume: Annotated[bool, Parameter(negative=())] = False,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
    device: str = "cpu",
    save_minutes: float = 3.0,
    stop_minutes: float | None = None,
    json_: Json = False,
) -> int:
    """Train a network; the run can be interrupted at any time and gone on with (--resume).

    Parameters
    ----------
    images
        The training set: CIFAR-10 in an official layout, class folders, an archive of them, or a .npz with labels.
    out
        The run's folder: run.json, metrics.csv, curves.png, checkpoint.safetensors; the state while it is unfinished.
    test_images
        The test set, where it is elsewhere.
    resume
        Go on with the run in the folder.
    overwrite
        Begin anew, in place of the run in the folder.
    device
        cpu or cuda.
    save_minutes
        Save this often, beside each epoch.
    stop_minutes
        Stop after this time, saved, to be gone on with.
    """
    from dcnbio.training import Recipe, RunOptions
    from dcnbio.training import train as run
    from dcnbio.training.images import read_training_images

    recipe = what.chosen()
    if what.minutes is not None and resume:
        raise InputError("minutes (--minutes) is given with resume, but a run keeps its passes; use --stop-minutes.")
    if what.minutes is not None and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError("minutes (--minutes) would be other passes in each of several processes; give --passes.")
    data = read_training_images(images, test_images)
    if what.minutes is not None:
        recipe = within_minutes(recipe or Recipe(), data, what.minutes, device)
    options = RunOptions(
        out=out,
        device=device,
        resume=resume,
        overwrite=overwrite,
        save_minutes=save_minutes,
        stop_minutes=stop_minutes,
        command=command_text(sys.argv[1:]),
    )
    bar = Bar(shown=not json_)
    try:
        figures = run(recipe, data, options, bar)
    finally:
        bar.close()
    if int(os.environ.get("RANK", "0")) == 0:
        draw_curves(out)
        print(json.dumps({"out": str(out), **(figures or {"finished": False})}) if json_ else report(out, figures))
    return 0


def draw_curves(out: Path) -> None:
    """Plot loss, accuracy, function evaluations and scales through training, as far as there are epochs."""
    from dcnbio.figures import on_page, plot
    from dcnbio.figures.training_curves import read_run
    from dcnbio.training.run_folder import RunFolder

    folder = RunFolder(out)
    if folder.metrics.exists():
        with on_page("screen"):
            plot("training_curves", read_run(out)).savefig(folder.curves, dpi=192)


def within_minutes(recipe: Recipe, data: Any, minutes: float, device: str) -> Recipe:
    """Turn minutes into passes, and say what was found."""
    from dcnbio.training.timing import recipe_for_minutes

    recipe, speed = recipe_for_minutes(recipe, data, minutes, device)
    rates = ", ".join(f"{p.label} {1 / s:.0f}" for p, s in zip(recipe.phases, speed.phases, strict=True))
    print(f"{minutes:g} minutes are {recipe.optimisation.passes} passes ({rates} images/s)", file=sys.stderr)
    return recipe


def report(out: Path, figures: Mapping[str, Any] | None) -> str:
    """Lay out what a person sees at the end."""
    if figures is None:
        return f"stopped before the end; go on with --out {out} --resume"
    lines = [f"checkpoint {out / 'checkpoint.safetensors'}, figures {out / 'metrics.csv'}, curves {out / 'curves.png'}"]
    for name, text in (("held_out", "held out"), ("test", "test")):
        if f"{name}_accuracy" in figures:
            low, high = figures[f"{name}_interval"]
            lines.append(
                f"{text:9} {100 * figures[f'{name}_accuracy']:.2f} % of {figures[f'{name}_n']} images "
                f"(95 % interval {100 * low:.2f} to {100 * high:.2f})"
            )
        if f"{name}_mse" in figures:
            mse = figures[f"{name}_mse"]
            lines.append(f"{text:9} mean square error {mse:.5f} (times 1000: {1000 * mse:.2f})")
    lines.append(f"{figures['passes']} passes in {figures['minutes']:.1f} minutes on {figures['machine']}")
    return "\n".join(lines)
