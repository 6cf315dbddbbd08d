"""Accuracy or reconstruction error on images that are not trained on, always with dopri5 unless told otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status
from dcnbio.training.images import LabelledImages
from dcnbio.training.objective import Objective
from dcnbio.training.processes import Processes

__all__ = ["REPORTED", "Measured", "measure", "wilson_interval"]

REPORTED = SolverSettings()  # dopri5 at 1e-3: the solver of every accuracy that is reported
BATCH = 100
Z = 1.959963984540054  # 97.5 % quantile of the normal distribution


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a proportion.

    Parameters
    ----------
    right, n : int
        Successes, and trials (at least one).

    Returns
    -------
    tuple of float
        Lower and upper end, fractions.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
       doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> [round(x, 3) for x in wilson_interval(737, 1000)]
    [0.709, 0.763]
    """
    p, spread = right / n, Z * Z / n
    half = Z * math.sqrt(p * (1 - p) / n + spread / (4 * n))
    return (p + spread / 2 - half) / (1 + spread), (p + spread / 2 + half) / (1 + spread)


@dataclass(frozen=True)
class Measured:
    """What a measurement gave.

    Attributes
    ----------
    n, right, failed : int
        Images, those classified rightly, those that could not be solved.
    loss : float
        Mean over images.
    nfe : tuple of float
        Mean over batches of 100, per block.
    """

    n: int
    right: int
    failed: int
    loss: float
    nfe: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        """Fraction of right answers."""
        return self.right / self.n

    def to_dict(self, name: str) -> dict[str, Any]:
        """Give plain values for a checkpoint's header."""
        low, high = wilson_interval(self.right, self.n)
        values = {
            "accuracy": self.accuracy,
            "n": self.n,
            "interval": [low, high],
            "failed": self.failed,
            "nfe": list(self.nfe),
        }
        return {f"{name}_{key}": value for key, value in values.items()}


@torch.no_grad()
def measure(
    objective: Objective,
    images: LabelledImages,
    processes: Processes,
    solver: SolverSettings = REPORTED,
) -> Measured:
    """Measure on images, in batches of 100 that step together; processes share the batches out.

    Parameters
    ----------
    objective : Objective
    images : LabelledImages
    processes : Processes
    solver : SolverSettings

    Examples
    --------
    >>> import numpy as np
    >>> from dcnbio.training.objective import Classification
    >>> from dcnbio.model.network import build
    >>> two = LabelledImages(np.zeros((2, 3, 32, 32), np.uint8), np.array([0, 1]))
    >>> found = measure(Classification(build("resnet-blocks")), two, Processes())
    >>> found.n, found.right in (0, 1), found.failed
    (2, True, 0)
    """
    weight = next(objective.module.parameters())
    blocks = len(list(objective.module.get_submodule("blocks").children()))
    sums = torch.zeros(4 + blocks, dtype=torch.float64)
    starts = list(range(0, len(images), BATCH))
    for start in starts[processes.rank :: processes.count]:
        pixels, labels = images.at(slice(start, start + BATCH)).tensors(weight.dtype, str(weight.device))
        outcome = objective(pixels, labels, solver)
        bad = torch.stack([block.work.status != Status.OK for block in outcome.blocks]).any(0)
        nfe = [float(block.work.nfe.double().mean()) for block in outcome.blocks]
        sums += torch.tensor([outcome.right, float(bad.sum()), float(outcome.loss), 1.0, *nfe], dtype=torch.float64)
    right, failed, loss, batches, *evaluations = processes.total(sums).tolist()
    mean_nfe = tuple(value / batches for value in evaluations)
    return Measured(len(images), int(right), int(failed), loss / len(images), mean_nfe)
