"""Accuracy of a network on labelled images, with its interval and the work it took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binomtest
from tqdm.std import tqdm

from dcnbio.errors import InputError
from dcnbio.model.network import Network, Run
from dcnbio.model.status import Status
from dcnbio.probe.precision import held_still, moved
from dcnbio.probe.settings import ProbeSettings
from dcnbio.probe.stimuli import as_stimuli, prepared_images

__all__ = ["Evaluation", "accuracy_interval", "evaluate"]


def accuracy_interval(right: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Give Wilson's interval of a proportion.

    Parameters
    ----------
    right, n : int
        Successes and trials.
    level : float
        Coverage.

    Examples
    --------
    >>> [round(x, 3) for x in accuracy_interval(737, 1000)]
    [0.709, 0.763]
    """
    interval = binomtest(right, n).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class Evaluation:
    """How well a network names images.

    Attributes
    ----------
    n : int
        Labelled images that were evaluated; failed ones count as wrong.
    right : int
    failed : int
        Images that could not be solved.
    confusion : int array [label, answer]
        Counts.
    class_names : list of str
    nfe : list of float
        Mean over images (per-image stepping) or over batches (shared stepping), per block.
    nfe_per : str
        "image" or "batch".
    """

    n: int
    right: int
    failed: int
    confusion: NDArray[np.int64]
    class_names: list[str]
    nfe: list[float]
    nfe_per: str

    @property
    def accuracy(self) -> float:
        """Fraction of right answers."""
        return self.right / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy over images."""
        return accuracy_interval(self.right, self.n)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        per_class = self.confusion.diagonal() / np.maximum(self.confusion.sum(1), 1)
        return {
            "accuracy": self.accuracy,
            "n": self.n,
            "interval": list(self.interval),
            "failed": self.failed,
            "nfe": self.nfe,
            "nfe_per": self.nfe_per,
            "per_class": dict(zip(self.class_names, per_class.tolist(), strict=True)),
            "confusion": self.confusion.tolist(),
        }


def batch_nfe(run: Run, per_image: bool) -> NDArray[np.float64]:
    """Give NFE of each block, one row per image or one for the batch."""
    rows = np.stack([block.work.nfe.numpy() for block in run.blocks], axis=1).astype(np.float64)
    return rows if per_image else rows[:1]


def evaluate(net: Network, data: xr.Dataset, *, progress: bool = False, **settings: Any) -> Evaluation:
    """Measure accuracy on labelled images; shared stepping by default, as in the paper.

    Parameters
    ----------
    net : Network
    data : xarray.Dataset
        From `load_images`, with labels.
    progress : bool
        Show a progress bar.
    **settings
        Fields of `ProbeSettings`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import dcnbio
    >>> found = evaluate(dcnbio.load(), dcnbio.load_images(limit=20))
    >>> found.n, found.accuracy > 0.4
    (20, True)
    """
    chosen = ProbeSettings(**{"stepping": "shared", **settings})
    stimuli = as_stimuli(data)
    if (stimuli.labels < 0).any() or len(stimuli.class_names) != net.spec.classes:
        raise InputError(
            f"the images of {stimuli.source} have no labels of the network's {net.spec.classes} classes; accuracy "
            "needs them, so use folders named after the classes or an .npz with labels."
        )
    ready = moved(net, chosen.torch_dtype, chosen.device)
    images = prepared_images(stimuli, chosen)
    confusion = np.zeros((net.spec.classes, net.spec.classes), dtype=np.int64)
    failed, counts = 0, []
    for part, run in runs(ready, images, chosen, progress):
        answers = run.logits.argmax(1).cpu().numpy()
        solved = np.stack([block.work.status.numpy() == Status.OK for block in run.blocks]).all(0)
        np.add.at(confusion, (stimuli.labels[part][solved], answers[solved]), 1)
        failed += int((~solved).sum())
        counts.append(batch_nfe(run, chosen.stepping == "per-image"))
    nfe = np.concatenate(counts).mean(0).tolist()
    per = "image" if chosen.stepping == "per-image" else "batch"
    right = int(confusion.diagonal().sum())
    return Evaluation(len(stimuli), right, failed, confusion, stimuli.class_names, nfe, per)


def runs(
    net: Network, images: NDArray[np.float32], settings: ProbeSettings, progress: bool
) -> Iterator[tuple[slice, Run]]:
    """Run images batch by batch."""
    with tqdm(total=len(images), unit="image", desc="evaluate", disable=not progress, leave=False) as bar:
        for start in range(0, len(images), settings.batch_size):
            part = slice(start, min(start + settings.batch_size, len(images)))
            batch = torch.from_numpy(images[part]).to(settings.device, settings.torch_dtype)
            with held_still(net):
                run = net.run(batch, settings.solver)
            yield part, run
            bar.update(part.stop - part.start)
