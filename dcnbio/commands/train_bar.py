"""What a person sees while a network is trained: one line for the steps, and one more after each epoch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tqdm.std import tqdm

__all__ = ["Bar"]


class Bar:
    """Shows the figures of a run on one line, from its first step on.

    Parameters
    ----------
    shown : bool
    reconstruction : bool
        Whether a decoder is trained, which has a mean square error in place of loss and accuracy.
    """

    def __init__(self, shown: bool, reconstruction: bool) -> None:
        self.shown, self.reconstruction = shown, reconstruction
        self.bar: Any = None
        self.sigma = ""

    def __call__(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of a step, or of an epoch."""
        if not self.shown:
            return
        if self.bar is None:
            self.bar = tqdm(desc="train", unit="step", leave=True)
        if "total_steps" not in figures:
            self.epoch(figures)
            return
        if figures.get("sigma"):
            self.sigma = " ".join(f"{value:.2f}" for value in figures["sigma"].values())
        self.bar.total = figures["total_steps"]
        self.bar.n = figures["step"]
        self.bar.set_postfix_str(step_text(figures, self.reconstruction, self.sigma), refresh=False)
        self.bar.update(0)

    def epoch(self, row: Mapping[str, Any]) -> None:
        """Print what an epoch came to."""
        if row["held_out_n"]:
            self.bar.write(epoch_text(row), file=sys.stderr)

    def close(self) -> None:
        """Leave the line."""
        if self.bar is not None:
            self.bar.close()


def step_text(figures: Mapping[str, Any], reconstruction: bool, sigma: str) -> str:
    """Write the figures of a step.

    Examples
    --------
    >>> figures = {"epoch": 1, "loss": 0.0712, "accuracy": 0.0, "nfe": 4, "nfe_backward": 4, "images_per_second": 50.0}
    >>> step_text(figures, True, "")
    'epoch 1, mean square error 0.07120, NFE 4 + 4, 50 images/s'
    """
    loss = figures["loss"]
    came = f"mean square error {loss:.5f}" if reconstruction else f"loss {loss:.3f}, {100 * figures['accuracy']:.1f} %"
    return (
        f"epoch {figures['epoch']}, {came}, NFE {figures['nfe']} + {figures['nfe_backward']}, "
        f"{figures['images_per_second']:.0f} images/s" + (f", sigma {sigma}" if sigma else "")
    )


def epoch_text(row: Mapping[str, Any]) -> str:
    """Write the row of an epoch that was looked at on held-out images."""
    head = f"epoch {row['epoch']}, {row['passes']} passes, {row['solver']}: "
    if "mse" not in row:
        return head + (
            f"loss {row['loss']:.3f}, held out {100 * row['held_out_accuracy']:.1f} % with dopri5, "
            f"{100 * row['held_out_accuracy_training_solver']:.1f} % with the training solver"
        )
    if row["held_out_mse"] is None:
        return f"{head}mean square error {row['mse']:.5f}, {row['held_out_failed']} held-out images were not solved"
    own = row["held_out_mse_training_solver"]
    return head + (
        f"mean square error {row['mse']:.5f}, held out {row['held_out_mse']:.5f} with dopri5, "
        f"{'not solved' if own is None else format(own, '.5f')} with the training solver"
    )
