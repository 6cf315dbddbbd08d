"""The images of a run: what is trained on, what is held out, what tests."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.images import ImageSet, images_id, read_images

__all__ = ["LabelledImages", "TrainingImages", "read_training_images"]


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Images as bytes, with their labels.

    Attributes
    ----------
    images : uint8 array, shape (n, 3, y, x)
    labels : int array, shape (n,)
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the images."""
        return len(self.labels)

    def at(self, positions: NDArray[np.int64] | slice) -> LabelledImages:
        """Choose images."""
        return LabelledImages(self.images[positions], self.labels[positions])

    def tensors(self, dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor]:
        """Give images in [0, 1] and labels as tensors."""
        pixels = torch.from_numpy(self.images).to(device).to(dtype) / 255
        return pixels, torch.from_numpy(self.labels).to(device)


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """A training set and, where there is one, the test set that goes with it.

    Attributes
    ----------
    train : LabelledImages
    test : LabelledImages or None
    source : str
        What was read, and what was done to it.
    ids : dict of str to str
        SHA-256 of the pixels of both, and of their labels.
    classes : tuple of str
        The name of every label; empty where nobody tells them.
    """

    train: LabelledImages
    test: LabelledImages | None
    source: str
    ids: dict[str, str]
    classes: tuple[str, ...] = ()


def labelled(found: ImageSet) -> LabelledImages:
    """Take images with labels, refusing those without."""
    if (found.labels < 0).any():
        raise InputError(f"images of {found.source} have no labels; training needs folders named after the classes.")
    return LabelledImages(np.asarray(found.images, dtype=np.uint8), found.labels)


def labels_id(labels: NDArray[np.int64]) -> str:
    """Give the identity of labels, of which that of their images says nothing."""
    return f"sha256:{hashlib.sha256(labels.astype('<i8').tobytes()).hexdigest()}"


def labelled_as(found: ImageSet, own: ImageSet) -> LabelledImages:
    """Take test images with the labels that the training images' classes have, each found by its name.

    Raises
    ------
    InputError
        If a class of theirs has no training image.
    """
    test = labelled(found)
    trained = {own.class_names[label]: int(label) for label in np.unique(own.labels)}
    shown = {int(label): found.class_names[label] for label in np.unique(test.labels)}
    unknown = sorted(set(shown.values()) - set(trained))
    if unknown:
        raise InputError(
            f"test images of {found.source} are of {', '.join(unknown[:10])} ({len(unknown)} in all), of which there "
            f"is no training image; classes are found by name, and trained are {', '.join(list(trained)[:10])} "
            f"({len(trained)} in all)."
        )
    places = np.array([trained[shown[label]] if label in shown else -1 for label in range(len(found.class_names))])
    return LabelledImages(test.images, places[test.labels])


def read_training_images(source: str | os.PathLike[str], test: str | os.PathLike[str] | None = None) -> TrainingImages:
    """Read a training set and its test set.

    Parameters
    ----------
    source : path
        CIFAR-10 in an official layout, a class-folder tree with train and test, an archive of either, or a .npz.
    test : path, optional
        The test set, where it is elsewhere. Left out: the file beside an archive named train..., of the name test...;
        else the source's own test split; none where that is the same images. Its classes are those of the training
        set by name, whichever others are there.

    Returns
    -------
    TrainingImages

    Raises
    ------
    InputError
        If images cannot be read or have no labels, or a test image is of a class that has no training image.
    """
    train = read_images(source, split="train", as_uint8=True)
    own = labelled(train)
    ids = {"train": images_id(own.images), "train_labels": labels_id(own.labels)}
    path = Path(source)
    beside = path.with_name(path.name.replace("train", "test", 1))
    place = test or (beside if path.name.startswith("train") and beside.exists() else source)
    found = labelled_as(read_images(place, split="test", as_uint8=True), train)
    what, test_id = " ".join([train.source, *train.notices]), images_id(found.images)
    if test_id == ids["train"]:
        return TrainingImages(own, None, what, ids, train.class_names)
    ids |= {"test": test_id, "test_labels": labels_id(found.labels)}
    return TrainingImages(own, found, what, ids, train.class_names)
