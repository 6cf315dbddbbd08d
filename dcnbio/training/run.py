"""A training run under way: steps, looks, saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from dcnbio.training.divergence import DivergenceError
from dcnbio.training.epoch_report import epoch_row, save_scales, sigma_by_layer
from dcnbio.training.final_figures import partial_figures
from dcnbio.training.images import LabelledImages
from dcnbio.training.interruption import Interruption
from dcnbio.training.keep import Kept, keep_network
from dcnbio.training.measure import Measured, measure
from dcnbio.training.metrics_file import MetricsFile
from dcnbio.training.run_folder import RunFolder
from dcnbio.training.run_options import RunOptions
from dcnbio.training.schedule import learning_rate, phase_at, phase_solver
from dcnbio.training.setup import integration_time
from dcnbio.training.state import Progress, save_state
from dcnbio.training.step import StepReport, Trainer

__all__ = ["Run", "Show", "silent"]

Show = Callable[[Mapping[str, Any]], None]


def silent(figures: Mapping[str, Any]) -> None:
    """Show nothing."""


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
    kept : Kept
        What the checkpoint tells beside weights and figures.
    show : callable
        Sees the figures of each step.
    identity : str
        Which run it is, for its state.
    """

    trainer: Trainer
    held_out: LabelledImages
    folder: RunFolder
    options: RunOptions
    progress: Progress
    metrics: MetricsFile | None
    kept: Kept
    show: Show
    identity: str = ""

    def go(self) -> bool:
        """Step to the end; say whether it was reached."""
        plan, started = self.trainer.plan, time.monotonic()
        saved = last = started
        with Interruption() as interruption:
            while self.progress.step < plan.total_steps:
                number = self.phase()
                report = self.stepped(number)
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

    def stepped(self, number: int) -> StepReport:
        """Do one step; where it goes wrong, say whether there is a save."""
        try:
            return self.trainer.step(self.progress.step, self.trainer.recipe.phases[number])
        except DivergenceError as error:
            kept = "The last save is kept." if self.folder.state.exists() else "Nothing was saved yet."
            raise DivergenceError(f"{error} {kept}") from None

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
            "passes": trainer.plan.passes(step),
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
            keep_network(trainer.objective, self.kept, self.folder.checkpoint, figures)
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
            module, optimiser = self.trainer.objective.module, self.trainer.optimiser
            save_state(self.folder.state, module, optimiser, self.progress, self.identity)
