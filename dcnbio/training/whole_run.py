"""A whole training run: begins or goes on, steps to its end, is measured and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.device import check_device
from dcnbio.model.network import Network
from dcnbio.training.encoder_record import encoder_facts, refuse_changed_encoder
from dcnbio.training.epoch_report import save_scales
from dcnbio.training.final_figures import final_figures
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.keep import Kept, keep_network
from dcnbio.training.machine import describe_machine
from dcnbio.training.metrics_file import MetricsFile
from dcnbio.training.objective import Objective
from dcnbio.training.processes import Processes, joined_processes
from dcnbio.training.recipe import Recipe
from dcnbio.training.run import Run, Show, silent
from dcnbio.training.run_folder import RunFolder, record_text
from dcnbio.training.run_lock import RunLock
from dcnbio.training.run_options import RunOptions
from dcnbio.training.run_record import chosen_recipe, finished_figures, refuse_to_remove_own
from dcnbio.training.schedule import make_plan
from dcnbio.training.setup import make_objective, make_optimiser
from dcnbio.training.starting_point import StartingPoint, starting_point
from dcnbio.training.state import Progress, load_state
from dcnbio.training.step import Trainer
from dcnbio.training.subsets import refuse_one_class, split_images

__all__ = ["train"]

FACTS = ("images", "source", "command")  # of the record, for the checkpoint's header


def train(
    recipe: Recipe | None, images: TrainingImages, options: RunOptions, show: Show = silent
) -> dict[str, Any] | None:
    """Train, from the beginning or from where the run in the folder was saved last.

    Parameters
    ----------
    recipe : Recipe or None
        None: the paper's, or the one of the run that goes on.
    images : TrainingImages
    options : RunOptions
    show : callable
        Sees figures after each step and each epoch.

    Returns
    -------
    dict or None
        The figures that are kept in the checkpoint's header; None if the run stopped before its end. A finished run
        that is to go on gives its figures and is left as it is.

    Raises
    ------
    DivergenceError
        If loss, gradient, solver or a scale went wrong.
    SaveError
        If the disk is full.

    Examples
    --------
    >>> import numpy as np
    >>> import tempfile
    >>> from dcnbio.training import with_settings
    >>> rng = np.random.default_rng(0)
    >>> images = LabelledImages(rng.integers(0, 256, (16, 3, 12, 12), dtype=np.uint8), np.arange(16) % 2)
    >>> small = ["network.widths=[4]", "network.norm_groups=2", "epochs=1", "batch_size=8", "translate=1"]
    >>> recipe = with_settings(Recipe(), [*small, 'phases=[{method="midpoint", steps=1, gradient="exact"}]'])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = train(recipe, TrainingImages(images, None, "noise", {"train": "none"}), RunOptions(Path(folder)))
    ...     sorted(path.name for path in Path(folder).glob("*.safetensors"))
    ['checkpoint.safetensors']
    """
    folder = RunFolder(Path(options.out))
    check_device(options.device, "float32" if recipe is None else recipe.dtype)
    with joined_processes(options.device) as processes, RunLock(folder.path, processes.first) as lock:
        recipe = chosen_recipe(recipe, folder, options, images.ids)
        refuse_to_remove_own(recipe, folder, options)
        done = finished_figures(folder, options)
        if done is not None:
            return done
        if recipe.task == "classification":
            refuse_one_class(images.train.labels)
        kept, held = split_images(images.train.labels, recipe.data, recipe.seed)
        held_out = images.train.at(held)
        trainer = prepared(recipe, images.train.at(kept), int(images.train.labels.max()) + 1, processes)
        name_classes(trainer.objective, images.classes)
        start = begun_or_resumed(trainer, folder, options)
        record = record_facts(trainer, start, images, command_of(folder, options))
        progress = begin(trainer, folder, options, record, lock)
        metrics = MetricsFile(folder.metrics, progress.step) if processes.first else None
        told = Kept(recipe, start, {"images_source" if key == "source" else key: record[key] for key in FACTS})
        show, identity = (show, folder.identity()) if processes.first else (silent, "")
        run = Run(trainer, held_out, folder, options, progress, metrics, told, show, identity)
        if not run.go():
            return None
        figures = final_figures(trainer, progress, held_out, images.test)
        figures["machine"] = describe_machine(processes.device)
        if processes.first:
            end(run, figures, record)
        return figures


def prepared(recipe: Recipe, training: LabelledImages, classes: int, processes: Processes) -> Trainer:
    """Make all that a step needs, with the values of the seed."""
    plan = make_plan(len(training), recipe.optimisation)
    smallest = plan.rest or plan.batch_size
    if smallest < processes.count:
        raise InputError(f"a batch of {smallest} cannot be shared by {processes.count} processes.")
    objective = make_objective(recipe, classes, processes.device)
    return Trainer(recipe, plan, training, objective, make_optimiser(objective.module, recipe.optimisation), processes)


def name_classes(objective: Objective, names: tuple[str, ...]) -> None:
    """Let the network, and with it its checkpoint, tell the names of its classes, by which others find their labels."""
    module = objective.module
    if names and isinstance(module, Network):
        module.source = {**module.source, "classes": list(names)}


def begun_or_resumed(trainer: Trainer, folder: RunFolder, options: RunOptions) -> StartingPoint:
    """Put the weights in place that the run begins with, or hold a run that goes on to those that it began with."""
    before = folder.read_record()[1] if options.resume else {}
    if options.resume:
        refuse_changed_encoder(before, trainer.objective, folder.path)
    return starting_point(trainer.recipe, trainer.objective, before, options.resume and folder.state.exists())


def begin(trainer: Trainer, folder: RunFolder, options: RunOptions, record: dict[str, Any], lock: RunLock) -> Progress:
    """Make the folder of a new run, or load the state of the one that goes on."""
    if options.resume and folder.state.exists():
        return load_state(folder.state, trainer.objective.module, trainer.optimiser, folder.identity())
    if trainer.processes.first:
        record_text(trainer.recipe, **record, finished=False)  # whatever has no JSON fails before anything is removed
        if not options.resume:
            folder.make()
            lock.take()
            folder.begin(options.overwrite)
        folder.write_record(trainer.recipe, **record, finished=False)
        save_scales(trainer.objective.module, folder.scales(0))
    return Progress()


def command_of(folder: RunFolder, options: RunOptions) -> str:
    """Give the command that the run was begun with: the one that goes on with it says nothing of its recipe."""
    before = folder.read_record()[1] if options.resume else {}
    return str(before.get("command", options.command))


def record_facts(trainer: Trainer, start: StartingPoint, images: TrainingImages, command: str) -> dict[str, Any]:
    """Give what run.json holds beside the recipe."""
    facts = {"images": images.ids, "source": images.source, "command": command}
    return {**facts, **encoder_facts(trainer.objective), **start.facts()}


def end(run: Run, figures: dict[str, Any], record: dict[str, Any]) -> None:
    """Keep the finished network, and let go of the state."""
    trainer, folder = run.trainer, run.folder
    keep_network(trainer.objective, run.kept, folder.checkpoint, figures)
    folder.write_record(trainer.recipe, **record, finished=True, metrics=figures)
    folder.state.unlink(missing_ok=True)
