"""``dcnbio train``: train any row of the paper, by the paper's recipe or another, and go on where a run stopped."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.interruption import ends_with
from dcnbio.commands.options import Json
from dcnbio.commands.output import Speaker, command_text
from dcnbio.commands.train_bar import Bar
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.training import Recipe, RunOptions

__all__ = ["train"]

LENGTHS = ("epochs", "passes", "minutes")


@Parameter(name="*")
@dataclass(frozen=True)
class What:
    """What is trained: the options that are used most; `set` reaches every other setting of a recipe.

    Attributes
    ----------
    model
        A row, e.g. dcn-ode; the recipe's by default.
    recipe
        A shipped name, e.g. budget, or a .toml file; the paper's recipe by default.
    start
        Go on from this trained network, a file or a shipped name, in place of drawn values.
    seed
        Of initial values, data order and augmentation.
    epochs
        How long, in rounds through the training images; the recipe's by default.
    passes
        How long, in images passed through.
    minutes
        How long, turned into passes once, by a short timing.
    per_class
        Train on this many images of each class.
    held_out
        Hold this many training images out, to make choices with.
    set
        Any setting of the recipe, as name=value; may be repeated.
    """

    model: str | None = None
    recipe: str | None = None
    start: str | None = None
    seed: int | None = None
    epochs: int | None = None
    passes: int | None = None
    minutes: float | None = None
    per_class: int | None = None
    held_out: int | None = None
    set: Annotated[list[str] | None, Parameter(negative=())] = None

    def lengths(self) -> dict[str, str]:
        """Give what was given of how long the run is, by its name or its option's, in the words it was given in.

        Examples
        --------
        >>> What(epochs=5, set=["optimisation.passes = 256", "seed=1"]).lengths()
        {'--epochs': '--epochs 5', 'passes': '--set passes=256'}
        """
        given = {
            f"--{name}": f"--{name} {getattr(self, name):g}" for name in LENGTHS if getattr(self, name) is not None
        }
        parts = [[part.strip() for part in setting.partition("=")] for setting in self.set or []]
        # later ones win; passes=none is no length, but takes that of a recipe's file away
        values = {name.removeprefix("optimisation."): value for name, _, value in parts if value.lower() != "none"}
        return given | {name: f"--set {name}={values[name]}" for name in LENGTHS if name in values}

    def settings(self) -> list[str]:
        """List the settings that were given, in the recipe's words."""
        names = ("model", "start", "seed", "epochs", "passes", "per_class", "held_out")
        given = {name: getattr(self, name) for name in names}
        # epochs are not used where there are passes, which the recipe's file may have
        instead = ["passes=none"] if {"epochs", "--epochs"} & self.lengths().keys() else []
        # between quotation marks a name such as 2024 stays a name
        said = [f"{name}={json.dumps(v)}" for name, v in given.items() if v is not None]
        return [*instead, *said, *(self.set or [])]

    def chosen(self) -> Recipe | None:
        """Give the recipe that was asked for; None if nothing was."""
        from dcnbio.training import Recipe, read_recipe, with_settings

        settings = self.settings()
        if self.recipe is None and not settings:
            return None
        return with_settings(Recipe() if self.recipe is None else read_recipe(self.recipe), settings)


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """How the run is done.

    Attributes
    ----------
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
    scales_every
        Keep every filter's scale, in log2_sigma/, each time so many epochs are done.
    """

    resume: Annotated[bool, Parameter(negative=())] = False
    overwrite: Annotated[bool, Parameter(negative=())] = False
    device: str = "cpu"
    save_minutes: float = 3.0
    stop_minutes: float | None = None
    scales_every: int = 5


WHAT, HOW = What(), How()


def train(
    *,
    images: str,
    out: Path,
    test_images: str | None = None,
    what: What = WHAT,
    how: How = HOW,
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
    """
    options = chosen_options(out, how)
    lengths = what.lengths().values()
    if len(lengths) > 1:
        raise InputError(f"{' and '.join(lengths)} are given, and a run has one length; leave all but one out.")
    recipe = what.chosen()
    if what.minutes is not None and how.resume:
        raise InputError("minutes (--minutes) is given with resume, but a run keeps its passes; use --stop-minutes.")
    if what.minutes is not None and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError("minutes (--minutes) would be other passes in each of several processes; give --passes.")
    with ends_with(lambda: what_is_kept(out)):
        figures = trained(recipe, what.minutes, (images, test_images), options, shown=not json_)
        if int(os.environ.get("RANK", "0")) == 0:
            draw_curves(out)
            Speaker(json_).give({"out": str(out), **(figures or {"finished": False})}, report(out, figures))
    return 0


def chosen_options(out: Path, how: How) -> RunOptions:
    """Gather how the run is done, refusing what cannot be before anything is read."""
    from dcnbio.model.device import check_device
    from dcnbio.training import RunOptions
    from dcnbio.training.run_folder import RunFolder

    options = RunOptions(out=out, command=command_text(sys.argv[1:]), **vars(how))
    check_device(how.device, "float32")
    if options.resume:
        RunFolder(out).read_record()
    return options


def trained(
    recipe: Recipe | None,
    minutes: float | None,
    sources: tuple[str, str | None],
    options: RunOptions,
    *,
    shown: bool,
) -> dict[str, Any] | None:
    """Read the images and train on them, under one bar."""
    from dcnbio.training import Recipe
    from dcnbio.training import train as run
    from dcnbio.training.images import read_training_images
    from dcnbio.training.run_folder import RunFolder

    data = read_training_images(*sources)
    if minutes is not None:
        recipe = within_minutes(recipe or Recipe(), data, minutes, options.device)
    settled = RunFolder(options.out).read_record()[0] if options.resume else recipe or Recipe()
    say_of_processes(settled)
    bar = Bar(shown, settled.task == "reconstruction")
    try:
        return run(recipe, data, options, bar)
    finally:
        bar.close()


def say_of_processes(recipe: Recipe) -> None:
    """Say, where several processes train with adjoint gradients, that they do not train as one would."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count > 1 and os.environ.get("RANK", "0") == "0" and any(p.gradient == "adjoint" for p in recipe.phases):
        exact = """--set 'phases=[{gradient="exact"}]'"""
        print(
            f"note: with adjoint gradients {count} processes do not train as one does: the backward solve chooses its "
            "steps by the parts of the parameters' gradients that each process has. With exact gradients they do: "
            f'{exact}, or gradient = "exact" in each phase of the recipe',
            file=sys.stderr,
        )


def what_is_kept(out: Path) -> str:
    """Say what an interrupted run leaves."""
    from dcnbio.training.run_folder import RunFolder

    folder = RunFolder(out)
    if folder.state.exists():
        return f"{out} keeps what was saved last; go on with --out {out} --resume"
    if folder.checkpoint.exists():
        return f"the run in {out} had finished and is whole"
    return "nothing was saved yet"


def draw_curves(out: Path) -> None:
    """Plot loss and accuracy or error, evaluations and scales through training, as far as there are epochs."""
    from dcnbio.figures import on_page, plot
    from dcnbio.figures.training_run import read_run
    from dcnbio.training.atomic_file import replace_file
    from dcnbio.training.run_folder import RunFolder

    folder = RunFolder(out)
    if folder.metrics.exists():
        content = io.BytesIO()
        with on_page("screen"):
            plot("training_curves", read_run(out)).savefig(content, dpi=192, format="png")
        replace_file(folder.curves, content.getvalue())


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
