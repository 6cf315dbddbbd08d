"""The images of a run: what is trained on, what is held out, what tests."""

from __future__ import annotations

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
        SHA-256 of the pixels of both.
    """

    train: LabelledImages
    test: LabelledImages | None
    source: str
    ids: dict[str, str]


def labelled(found: ImageSet) -> LabelledImages:
    """Take images with labels, refusing those without."""
    if (found.labels < 0).any():
        raise InputError(f"images of {found.source} have no labels; training needs folders named after the classes.")
    return LabelledImages(np.asarray(found.images, dtype=np.uint8), found.labels)


def read_training_images(source: str | os.PathLike[str], test: str | os.PathLike[str] | None = None) -> TrainingImages:
    """Read a training set and its test set.

    Parameters
    ----------
    source : path
        CIFAR-10 in an official layout, a class-folder tree with train and test, an archive of either, or a .npz.
    test : path, optional
        The test set, where it is elsewhere. Left out: the file beside an archive named train..., of the name test...;
        else the source's own test split; none where that is the same images.

    Returns
    -------
    TrainingImages
    """
    train = read_images(source, split="train", as_uint8=True)
    ids = {"train": images_id(np.asarray(train.images, dtype=np.uint8))}
    path = Path(source)
    beside = path.with_name(path.name.replace("train", "test", 1))
    place = test or (beside if path.name.startswith("train") and beside.exists() else source)
    found = labelled(read_images(place, split="test", as_uint8=True))
    ids["test"] = images_id(found.images)
    what = " ".join([train.source, *train.notices])
    if ids["test"] == ids["train"]:
        return TrainingImages(labelled(train), None, what, {"train": ids["train"]})
    return TrainingImages(labelled(train), found, what, ids)
