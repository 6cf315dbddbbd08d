"""A whole training run: begins or goes on, steps, looks, saves, ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dcnbio.errors import InputError
from dcnbio.training.encoder_record import encoder_facts, refuse_changed_encoder
from dcnbio.training.epoch_report import epoch_row, save_scales, sigma_by_layer
from dcnbio.training.final_figures import final_figures, partial_figures
from dcnbio.training.images import LabelledImages, TrainingImages
from dcnbio.training.interruption import Interruption
from dcnbio.training.keep import keep_network
from dcnbio.training.machine import describe_machine
from dcnbio.training.measure import Measured, measure
from dcnbio.training.metrics_file import MetricsFile
from dcnbio.training.processes import joined_processes
from dcnbio.training.recipe import Recipe
from dcnbio.training.run_folder import RunFolder
from dcnbio.training.schedule import learning_rate, make_plan, phase_at, phase_solver
from dcnbio.training.setup import integration_time, make_objective, make_optimiser
from dcnbio.training.state import Progress, load_state, save_state
from dcnbio.training.step import StepReport, Trainer
from dcnbio.training.subsets import split_images

__all__ = ["RunOptions", "train"]

Show = Callable[[Mapping[str, Any]], None]


def silent(figures: Mapping[str, Any]) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is done, as opposed to what it computes.

    Attributes
    ----------
    out : Path
        The run's folder.
    device : str
        "cpu" or "cuda".
    resume, overwrite : bool
        Go on with the run in the folder, or begin anew in its place.
    save_minutes : float
        The state is saved after each epoch, and this often; 0: after each step.
    stop_minutes : float or None
        End this part of the run after that time, saved, to be gone on with.
    scales_every : int
        Epochs between two records of every filter's scale.
    command : str
        For the record.

    Examples
    --------
    >>> RunOptions(Path("run0"), stop_minutes=55).save_minutes
    3.0
    """

    out: Path
    device: str = "cpu"
    resume: bool = False
    overwrite: bool = False
    save_minutes: float = 3.0
    stop_minutes: float | None = None
    scales_every: int = 5
    command: str = ""


@dataclass(eq=False)
class Run:
    """A run under way.

    Attributes
    ----------
    trainer : Trainer
    held_out : LabelledImages
    folder : RunFolder
    options : RunOptions
    progress : Progress
    metrics : MetricsFile or None
        Of the first process alone.
    show : callable
        Sees the figures of each step.
    """

    trainer: Trainer
    held_out: LabelledImages
    folder: RunFolder
    options: RunOptions
    progress: Progress
    metrics: MetricsFile | None
    show: Show

    def go(self) -> bool:
        """Step to the end; say whether it was reached."""
        plan, started = self.trainer.plan, time.monotonic()
        saved = last = started
        with Interruption() as interruption:
            while self.progress.step < plan.total_steps:
                number = self.phase()
                report = self.trainer.step(self.progress.step, self.trainer.recipe.phases[number])
                self.progress.step += 1
                now = time.monotonic()
                self.note(report, now - last)
                last = now
                if self.progress.step % plan.steps_per_epoch == 0 or self.progress.step == plan.total_steps:
                    self.end_epoch(number)
                    saved = last = time.monotonic()
                stop, due = self.agreed(interruption.signal, started, saved)
                if (stop or due) and self.progress.step < plan.total_steps:
                    self.save()
                    saved = time.monotonic()
                if stop:
                    interruption.obey()
                    return False
        return True

    def agreed(self, number: int, started: float, saved: float) -> tuple[bool, bool]:
        """Say whether to stop and whether to save; all processes agree on it."""
        now, limit = time.monotonic(), self.options.stop_minutes
        late = limit is not None and now - started > 60 * limit
        due = now - saved >= 60 * self.options.save_minutes
        votes = self.trainer.processes.total(torch.tensor([float(bool(number) or late), float(due)]))
        return bool(votes[0] > 0), bool(votes[1] > 0)

    def phase(self) -> int:
        """Give the phase of the next step."""
        trainer = self.trainer
        return max(phase_at(self.progress.step, trainer.plan, trainer.recipe.phases), self.progress.phase)

    def note(self, report: StepReport, seconds: float) -> None:
        """Add a step to the epoch's sums and show it."""
        nfe = {f"nfe_block{i}": float(value) for i, value in enumerate(report.nfe, 1)}
        self.progress.seconds += seconds
        self.progress.add(loss=report.loss, right=report.right, seen=report.seen, steps=1.0, seconds=seconds, **nfe)
        self.progress.add(nfe_forward=float(sum(report.nfe)), nfe_backward=float(report.nfe_backward))
        sums, step = self.progress.sums, self.progress.step
        figures: dict[str, Any] = {
            "step": step,
            "total_steps": self.trainer.plan.total_steps,
            "epoch": (step - 1) // self.trainer.plan.steps_per_epoch + 1,
            "loss": sums["loss"] / sums["seen"],
            "accuracy": sums["right"] / sums["seen"],
            "nfe": sum(report.nfe),
            "nfe_backward": report.nfe_backward,
            "images_per_second": sums["seen"] / max(sums["seconds"], 1e-9),
        }
        if step % 20 == 1:
            figures["sigma"] = sigma_by_layer(self.trainer.objective.module)
        self.show(figures)

    def end_epoch(self, number: int) -> None:
        """Look at held-out images, write the epoch's row, move the phase on if the solver is being learned, save."""
        trainer, step = self.trainer, self.progress.step
        before, epoch = time.monotonic(), -(-step // trainer.plan.steps_per_epoch)
        looks = self.look(number)
        self.progress.seconds += time.monotonic() - before
        where = {
            "step": step,
            "epoch": epoch,
            "passes": step * trainer.plan.batch_size,
            "learning_rate": learning_rate(step - 1, trainer.plan, trainer.recipe.optimisation),
            "solver": trainer.recipe.phases[number].label,
        }
        row = epoch_row(self.progress, where, trainer.objective.module, looks)
        limit, gap = trainer.recipe.guards.gap_limit, row["solver_gap"]
        if limit is not None and gap is not None and gap > limit and number + 1 < len(trainer.recipe.phases):
            self.progress.phase = number + 1
        self.progress.sums = {}
        if self.metrics is not None:
            self.metrics.add(row)
            if epoch % self.options.scales_every == 0 or step == trainer.plan.total_steps:
                save_scales(trainer.objective.module, self.folder.scales(step))
            figures = partial_figures(trainer.recipe, self.progress, trainer.plan, looks[0])
            keep_network(trainer.objective, trainer.recipe, self.folder.checkpoint, figures)
        self.show(row)
        self.save()

    def look(self, number: int) -> tuple[Measured | None, Measured | None]:
        """Measure on held-out images with dopri5 at 1e-3, and with the training solver if that is another."""
        trainer = self.trainer
        if not len(self.held_out) or trainer.recipe.data.look == 0:
            return None, None
        images = self.held_out.at(slice(0, trainer.recipe.data.look))
        reported = measure(trainer.objective, images, trainer.processes)
        phase = trainer.recipe.phases[number]
        if phase.steps is None:
            return reported, None
        solver = phase_solver(phase, integration_time(trainer.objective))
        return reported, measure(trainer.objective, images, trainer.processes, solver)

    def save(self) -> None:
        """Save what is needed to go on."""
        if self.trainer.processes.first:
            save_state(self.folder.state, self.trainer.objective.module, self.trainer.optimiser, self.progress)


def chosen_recipe(recipe: Recipe | None, folder: RunFolder, options: RunOptions, ids: dict[str, str]) -> Recipe:
    """Give the recipe of the run that begins, or of the one that goes on.

    Raises
    ------
    InputError
        If there is nothing to go on with, or it had another recipe or other images.
    """
    if not options.resume:
        return recipe or Recipe()
    before, facts = folder.read_record()
    if recipe is not None and recipe != before:
        new, old = recipe.to_dict(), before.to_dict()
        different = [name for name in old if new[name] != old[name]]
        raise InputError(
            f"the run in {folder.path} has another recipe ({', '.join(different)} differ); leave the recipe's options "
            "out to go on with it, or begin in another folder."
        )
    if facts["images"] != ids:
        raise InputError(f"the run in {folder.path} was begun with other images ({facts['images']}); give the same.")
    return before


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
    with joined_processes(options.device) as processes:
        recipe = chosen_recipe(recipe, folder, options, images.ids)
        done = finished_figures(folder, options)
        if done is not None:
            return done
        kept, held = split_images(images.train.labels, recipe.data, recipe.seed)
        training = images.train.at(kept)
        plan = make_plan(len(training), recipe.optimisation)
        if plan.batch_size < processes.count:
            raise InputError(f"a batch of {plan.batch_size} cannot be shared by {processes.count} processes.")
        objective = make_objective(recipe, int(images.train.labels.max()) + 1, processes.device)
        if options.resume:
            refuse_changed_encoder(folder.read_record()[1], objective, folder.path)
        trainer = Trainer(
            recipe, plan, training, objective, make_optimiser(objective.module, recipe.optimisation), processes
        )
        held_out = images.train.at(held)
        progress = begin(trainer, folder, options, images)
        metrics = MetricsFile(folder.metrics, progress.step) if processes.first else None
        run = Run(trainer, held_out, folder, options, progress, metrics, show if processes.first else silent)
        if not run.go():
            return None
        figures = final_figures(trainer, progress, held_out, images.test)
        figures["machine"] = describe_machine(processes.device)
        if processes.first:
            end(run, figures, images)
        return figures


def finished_figures(folder: RunFolder, options: RunOptions) -> dict[str, Any] | None:
    """Give the figures of a run that is to go on but has come to its end; None where there is something left to do.

    Its state is gone by then, so that going on would be to begin anew in the place of what is finished.
    """
    if not options.resume or folder.state.exists():
        return None
    facts = folder.read_record()[1]
    if not facts.get("finished") or not folder.checkpoint.exists():
        return None
    figures: dict[str, Any] = facts["metrics"]
    return figures


def begin(trainer: Trainer, folder: RunFolder, options: RunOptions, images: TrainingImages) -> Progress:
    """Make the folder of a new run, or load the state of the one that goes on."""
    if options.resume and folder.state.exists():
        return load_state(folder.state, trainer.objective.module, trainer.optimiser)
    if trainer.processes.first:
        if not options.resume:
            folder.begin(options.overwrite)
        folder.write_record(trainer.recipe, **record_facts(trainer, images, options), finished=False)
        save_scales(trainer.objective.module, folder.scales(0))
    return Progress()


def record_facts(trainer: Trainer, images: TrainingImages, options: RunOptions) -> dict[str, Any]:
    """Give what run.json holds beside the recipe."""
    facts = {"images": images.ids, "source": images.source, "command": options.command}
    return {**facts, **encoder_facts(trainer.objective)}


def end(run: Run, figures: dict[str, Any], images: TrainingImages) -> None:
    """Keep the finished network, and let go of the state."""
    trainer, folder = run.trainer, run.folder
    facts = {"images": images.ids, "images_source": images.source, "command": run.options.command}
    keep_network(trainer.objective, trainer.recipe, folder.checkpoint, figures, **facts)
    record = record_facts(trainer, images, run.options)
    folder.write_record(trainer.recipe, **record, finished=True, metrics=figures)
    folder.state.unlink(missing_ok=True)
