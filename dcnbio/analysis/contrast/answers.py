"""What one recording says of each image, read and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.recording.network_labels import network_labels, of_other_classes

__all__ = ["Answers", "answers_of", "check_alike", "check_images"]

NEEDED = ("weights", "spec", "contrast", "solver", "images_id")
# what must be equal for recordings to differ in contrast and integration time alone
SAME = ("solver", "images_id", "dtype", "mask", "fill", "patches", "interventions")


@dataclass(frozen=True, eq=False)
class Answers:
    """What one recording says of each image.

    Attributes
    ----------
    contrast : float
    times : tuple of float
        Integration time of each block.
    right, solved : bool array [image]
        An image that was not solved is wrong.
    evaluations : int array [image]
        Of block 1; of an image that was not solved those until it failed.
    shown : dict of str to array
        What tells the images: ``stimulus`` and ``label`` of each, and ``class``, the names of classes.
    about : dict
        Provenance.
    """

    contrast: float
    times: tuple[float, ...]
    right: NDArray[np.bool_]
    solved: NDArray[np.bool_]
    evaluations: NDArray[np.int64]
    shown: dict[str, NDArray[Any]]
    about: dict[str, Any]

    @property
    def name(self) -> str:
        """The network's row and the beginning of its weights' number."""
        return f"{self.about['spec']['row']} {self.about['weights'].removeprefix('sha256:')[:8]}"


def answers_of(tree: xr.DataTree) -> Answers:
    """Read what a recording says of each image."""
    about = provenance_of(tree)
    root = tree.to_dataset()
    if of_other_classes(root):
        raise InputError(
            f"a recording of {about['spec']['row']} is of images whose classes are not the network's, so that a label "
            "would equal an answer by accident; record images of the network's classes."
        )
    labels = network_labels(root)
    if (labels < 0).any():
        raise InputError("the recordings are of images without labels; accuracy needs them.")
    if "block1" not in tree.children:
        raise InputError(
            f"a recording of {about['spec']['row']} lacks block 1, whose evaluations are compared; record that too "
            "(--blocks)."
        )
    logits = root["logits"].transpose("stimulus", "class").values
    solved = np.isfinite(logits).all(axis=1)
    right = solved & (np.where(solved[:, None], logits, 0).argmax(axis=1) == labels)
    times = tuple(float(value) for value in about["spec"]["integration_time"])
    evaluations = tree["block1"].to_dataset()["nfe"].values.astype(np.int64)
    shown = {name: root[name].values for name in ("stimulus", "label", "class")}
    return Answers(float(about["contrast"]), times, right, solved, evaluations, shown, about)


def provenance_of(tree: xr.DataTree) -> dict[str, Any]:
    """Read what a recording follows from."""
    try:
        about: dict[str, Any] = json.loads(tree.attrs["provenance"])
        missing = [name for name in NEEDED if name not in about]
        missing += [name for name in ("logits", "label", "stimulus", "class") if name not in tree.variables]
    except (KeyError, ValueError, TypeError) as error:
        raise InputError("the DataTree is no recording; give one from dcnbio.probe or dcnbio.open.") from error
    if missing:
        raise InputError(f"a recording lacks {missing[0]}; give one from dcnbio.probe or dcnbio.open.")
    return about


def check_images(first: Answers, one: Answers) -> None:
    """Refuse recordings of other images, or of the same ones with other labels."""
    same = [first.about["images_id"] == one.about["images_id"]]
    same += [np.array_equal(first.shown[name], one.shown[name]) for name in first.shown]
    if not all(same):
        words = ("images_id", "which of the images are there", "the labels of the same images", "the names of classes")
        raise InputError(
            f"the recordings of {first.name} at contrast {first.contrast:g} and of {one.name} at contrast "
            f"{one.contrast:g} differ in {words[same.index(False)]}; record the same images, with the same labels."
        )


def check_alike(reference: Answers, one: Answers) -> None:
    """Refuse recordings that differ in more than contrast and integration time."""
    shared = reference.about["solver"].get("stepping") == "shared"
    keys = (*SAME, "batch_size") if shared else SAME  # images that share their steps share them with their batch
    other = [key for key in keys if reference.about.get(key) != one.about.get(key)]
    specs = [{**two.about["spec"], "integration_time": None} for two in (reference, one)]
    other += ["the network"] if specs[0] != specs[1] else []
    if other:
        raise InputError(
            f"recordings of {one.name} differ in {other[0]}; record the same images with the same settings, but for "
            "--contrast and --integration-time."
        )
