"""Accuracy of a network on labelled images, with its interval and the work it took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from tqdm.std import tqdm

from dcnbio.errors import InputError
from dcnbio.model.given_network import check_network
from dcnbio.model.network import Network, Run
from dcnbio.probe.class_labels import with_labels_of
from dcnbio.probe.interval import accuracy_interval
from dcnbio.probe.outcome import finite_images, outcomes, run_finite
from dcnbio.probe.precision import moved
from dcnbio.probe.settings import ProbeSettings, settings_of
from dcnbio.probe.stimuli import Stimuli, as_stimuli, prepared_images

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a network names images.

    Attributes
    ----------
    n : int
        Labelled images that were evaluated; failed ones count as wrong.
    right : int
    failures : dict of int to str
        Images that could not be solved, by their `stimulus`, and why.
    confusion : int array [label, answer]
        Counts, of the images that were solved.
    shown : int array [label]
        Images of each class, failed ones included.
    class_names : list of str
    nfe : list of float
        Mean over images (per-image stepping) or over batches (shared stepping), per block; of what was solved.
    nfe_per : str
        "image" or "batch".
    named_right : bool array [image]
        Whether each image got its label, in the order of the data, to compare two networks image by image.

    Examples
    --------
    >>> counts, right = np.array([[4, 1], [0, 5]]), np.arange(10) != 4
    >>> found = Evaluation(10, 9, {}, counts, counts.sum(1), ["cat", "dog"], [44.0], "batch", right)
    >>> found.accuracy, found.to_dict()["per_class"]
    (0.9, {'cat': 0.8, 'dog': 1.0})
    """

    n: int
    right: int
    failures: dict[int, str]
    confusion: NDArray[np.int64]
    shown: NDArray[np.int64]
    class_names: list[str]
    nfe: list[float]
    nfe_per: str
    named_right: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        """Fraction of right answers."""
        return self.right / self.n

    @property
    def failed(self) -> int:
        """Number of images that could not be solved."""
        return len(self.failures)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy over images."""
        return accuracy_interval(self.right, self.n)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON; None where there is nothing to average."""
        pairs = zip(self.confusion.diagonal().tolist(), self.shown.tolist(), strict=True)
        per_class = [right / shown if shown else None for right, shown in pairs]
        return {
            "accuracy": self.accuracy,
            "n": self.n,
            "interval": list(self.interval),
            "failed": [{"stimulus": stimulus, "reason": reason} for stimulus, reason in self.failures.items()],
            "nfe": [value if np.isfinite(value) else None for value in self.nfe],
            "nfe_per": self.nfe_per,
            "per_class": dict(zip(self.class_names, per_class, strict=True)),
            "confusion": self.confusion.tolist(),
        }


def batch_nfe(run: Run, solved: NDArray[np.bool_], per_image: bool) -> NDArray[np.float64]:
    """Give NFE of each block, one row per solved image or one for the batch."""
    rows = np.stack([block.work.nfe.numpy() for block in run.blocks], axis=1).astype(np.float64)[solved]
    return rows if per_image else rows[:1]


def evaluate(net: Network, data: xr.Dataset, *, progress: bool = False, **settings: Any) -> Evaluation:
    """Measure accuracy on labelled images; shared stepping by default, as in the paper.

    Parameters
    ----------
    net : Network
        It is left as it was.
    data : xarray.Dataset
        From `load_images`, with labels of the network's classes, which are found by their names where the network's
        checkpoint tells them, else by their numbers.
    progress : bool
        Show a progress bar.
    **settings
        Fields of `ProbeSettings`; those that say what is recorded make no difference.

    Returns
    -------
    Evaluation
        ``accuracy``, its ``interval``, ``n``, ``confusion``, ``nfe``, ``failures``.

    Raises
    ------
    InputError
        If images have no labels, or those of other classes; or a setting is not allowed.

    Notes
    -----
    The interval is one over images: it says nothing of other training seeds. With shared stepping an answer may depend,
    within the tolerance, on the images that share a batch.

    Examples
    --------
    >>> import dcnbio
    >>> found = dcnbio.evaluate(dcnbio.load(), dcnbio.load_images(limit=20))
    >>> found.n, found.accuracy > 0.4
    (20, True)
    """
    check_network(net)
    chosen = settings_of({"stepping": "shared", **settings})
    if chosen.patches:
        raise InputError(
            "patch is given, which evaluate does not take; record with dcnbio.probe, which has the logits."
        )
    stimuli = as_stimuli(with_labels_of(net, data) if isinstance(data, xr.Dataset) else data)
    known = len(stimuli.class_names) == net.spec.classes
    if not known or (stimuli.labels < 0).any() or (stimuli.labels >= net.spec.classes).any():
        raise InputError(
            f"the images of {stimuli.source} have no labels of the network's {net.spec.classes} classes; accuracy "
            "needs them, so use folders named after the classes or an .npz with labels."
        )
    ready = moved(net, chosen.torch_dtype, chosen.device)
    confusion = np.zeros((net.spec.classes, net.spec.classes), dtype=np.int64)
    failures: dict[int, str] = {}
    counts: list[NDArray[np.float64]] = []
    named_right = np.zeros(len(stimuli), dtype=np.bool_)
    for part, went, run, reasons in runs(ready, stimuli, chosen, progress):
        solved = np.array([not reason for reason in reasons])
        failures |= {int(stimuli.stimulus[part][i]): reasons[i] for i in np.flatnonzero(~solved)}
        if run is None:
            continue
        taken = solved[went]
        answers = run.logits.argmax(1).cpu().numpy()[taken]
        labels = stimuli.labels[part][solved]
        np.add.at(confusion, (labels, answers), 1)
        named_right[np.arange(part.start, part.stop)[solved]] = answers == labels
        counts.append(batch_nfe(run, taken, chosen.stepping == "per-image"))
    rows = np.concatenate([np.empty((0, len(net.blocks))), *counts])
    nfe = rows.mean(0).tolist() if len(rows) else [np.nan] * len(net.blocks)
    per = "image" if chosen.stepping == "per-image" else "batch"
    right = int(confusion.diagonal().sum())
    shown = np.bincount(stimuli.labels, minlength=net.spec.classes)
    return Evaluation(len(stimuli), right, failures, confusion, shown, stimuli.class_names, nfe, per, named_right)


def runs(
    net: Network, stimuli: Stimuli, settings: ProbeSettings, progress: bool
) -> Iterator[tuple[slice, NDArray[np.bool_], Run | None, list[str]]]:
    """Run images batch by batch; say of each image whether it was taken and why it was not solved."""
    images = prepared_images(stimuli, settings)
    with tqdm(total=len(images), unit=" images", desc="evaluate", disable=not progress, leave=False) as bar:
        for start in range(0, len(images), settings.batch_size):
            part = slice(start, min(start + settings.batch_size, len(images)))
            run = run_finite(net, images[part], settings)
            taken = finite_images(images[part])
            last = outcomes(run, taken, stimuli.problems[part], len(net.blocks))[-1]
            yield part, taken, run, last.reasons
            bar.update(part.stop - part.start)
