"""Turns what a person gives as images into arrays, masked and scaled as the settings ask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images import CIFAR10_CLASSES, TRANSFORM, Box, images_id, mask_images, scale_contrast
from dcnbio.model.network import Network
from dcnbio.probe.class_labels import network_classes
from dcnbio.probe.outcome import NOT_FINITE, finite_images
from dcnbio.probe.settings import ProbeSettings

__all__ = ["Stimuli", "as_stimuli", "prepared_images"]

OUT_OF_RANGE = (
    "images have values from {0:.3g} to {1:.3g}: a DCN takes RGB / 255 in [0, 1] with no mean or sd, so divide bytes "
    "by 255, or undo the normalisation."
)
DIMS = ("stimulus", "channel", "y", "x")


@dataclass(frozen=True, eq=False)
class Stimuli:
    """Images with what is known of them.

    Attributes
    ----------
    images : float32 array [n, 3, y, x], in [0, 1]
        NaN where an image cannot be used.
    labels : int64 array [n]
        -1 where unknown.
    files : list of str
    stimulus : int64 array [n]
        Position in the source.
    class_names : list of str
    source : str
    problems : list of str [n]
        Why an image cannot be used, empty where it can.
    transform : str
        How values came about.
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    files: list[str]
    stimulus: NDArray[np.int64]
    class_names: list[str]
    source: str
    problems: list[str]
    transform: str = TRANSFORM

    def __len__(self) -> int:
        return len(self.images)

    @property
    def identity(self) -> str:
        """SHA-256 of the images' values."""
        return images_id(self.images)

    def labels_for(self, net: Network) -> NDArray[np.int64]:
        """Give labels as indices of a network's classes: all -1 where the images' own classes are others.

        A label counts the images' classes, which are found among the network's by name where its checkpoint tells
        them. Where it does not and these are not as many as the network's, a number that is equal to the network's
        answer would be right by accident.
        """
        names = network_classes(net)
        unknown = np.full(len(self), -1, dtype=np.int64)
        if not names:
            return self.labels if len(self.class_names) == net.spec.classes else unknown
        shown = {self.class_names[label] for label in self.labels if label >= 0}
        places = np.array([*(names.index(name) if name in names else -1 for name in self.class_names), -1])
        return places[self.labels] if shown <= set(names) else unknown

    def first(self, count: int) -> Stimuli:
        """Give the first images alone."""
        return self.chosen(range(min(count, len(self))))

    def usable(self, count: int) -> Stimuli:
        """Give the first images that can be used alone, `count` of them at most."""
        return self.chosen([i for i, problem in enumerate(self.problems) if not problem][:count])

    def chosen(self, rows: Sequence[int]) -> Stimuli:
        """Give some of the images."""
        chosen = list(rows)
        return replace(
            self,
            images=self.images[chosen],
            labels=self.labels[chosen],
            files=[self.files[i] for i in chosen],
            stimulus=self.stimulus[chosen],
            problems=[self.problems[i] for i in chosen],
        )


def from_dataset(data: xr.Dataset) -> Stimuli:
    """Read a Dataset as `load_images` gives it."""
    if "image" not in data or set(data["image"].dims) != set(DIMS) or data.sizes["channel"] != 3:
        raise InputError(
            f"data has the variables {list(data.data_vars)}; give a Dataset from dcnbio.load_images, with "
            "image (stimulus, channel, y, x)."
        )
    n = data.sizes["stimulus"]
    label = data.get("label")
    names = CIFAR10_CLASSES if label is None else label.attrs.get("class_names", CIFAR10_CLASSES)
    stimulus = data["stimulus"].values.astype(np.int64) if "stimulus" in data.coords else np.arange(n)
    known = {int(position): why for position, why in json.loads(data.attrs.get("problems", "{}")).items()}
    return Stimuli(
        images=np.ascontiguousarray(data["image"].transpose(*DIMS).values, dtype=np.float32),
        labels=np.full(n, -1) if label is None else label.values.astype(np.int64),
        files=[str(name) for name in data["file"].values] if "file" in data else [""] * n,
        stimulus=stimulus,
        class_names=[str(name) for name in names],
        source=str(data.attrs.get("source", "a Dataset")),
        problems=[known.get(int(position), "") for position in stimulus],
        transform=str(data.attrs.get("transform", "as given")),
    )


def as_stimuli(data: xr.Dataset | NDArray[Any] | torch.Tensor | Stimuli) -> Stimuli:
    """Accept a Dataset from `load_images`, or bare images as an array or tensor (n, 3, y, x) in [0, 1].

    Raises
    ------
    InputError
        If shape, type or range is not that of RGB images in [0, 1].

    Examples
    --------
    >>> len(as_stimuli(np.zeros((2, 3, 32, 32), dtype=np.float32)))
    2
    """
    if isinstance(data, Stimuli):
        return data
    if isinstance(data, xr.Dataset):
        return checked(from_dataset(data))
    images = data.detach().cpu().numpy() if isinstance(data, torch.Tensor) else np.asarray(data)
    if images.ndim != 4 or images.shape[1] != 3 or not np.issubdtype(images.dtype, np.floating):
        raise InputError(
            f"images are {images.dtype} of shape {images.shape}; give floating-point RGB (n, 3, 32, 32) in [0, 1], or "
            "a Dataset from dcnbio.load_images."
        )
    n = len(images)
    names = list(CIFAR10_CLASSES)
    labels = np.full(n, -1)
    values = images.astype(np.float32)
    return checked(Stimuli(values, labels, [""] * n, np.arange(n), names, "an array", [""] * n, "as given"))


def checked(stimuli: Stimuli) -> Stimuli:
    """Refuse empty sets and values that are no RGB in [0, 1]; name what is wrong with single images."""
    if len(stimuli) == 0:
        raise InputError("there are no images to record; check the folder, limit and classes.")
    finite = finite_images(stimuli.images)
    if finite.any():
        least, most = float(stimuli.images[finite].min()), float(stimuli.images[finite].max())
        if least < -1e-6 or most > 1 + 1e-6:
            raise InputError(OUT_OF_RANGE.format(least, most))
    problems = [why if good or why else NOT_FINITE for good, why in zip(finite, stimuli.problems, strict=True)]
    return replace(stimuli, problems=problems)


def central_box(mask: int, height: int, width: int) -> Box:
    """Give the one square of `mask` pixels that has its centre where an image of so many pixels has it.

    Examples
    --------
    >>> central_box(14, 32, 32), central_box(8, 32, 48)
    (Box(top=9, left=9, height=14, width=14), Box(top=12, left=20, height=8, width=8))
    """
    least, pixels = min(height, width), f"{width} x {height} pixels" if height != width else f"{width} pixels"
    if (height - width) % 2:
        raise InputError(
            f"mask (--mask) is {mask}, and no square has its centre where {pixels} have theirs, whose one side is odd "
            "and the other even; give images whose sides are both even."
        )
    allowed = f"{'an odd' if least % 2 else 'an even'} number of at most {least}"
    if mask > least:
        raise InputError(f"mask (--mask) is {mask}; the side of a central square on {pixels} is {allowed}.")
    if (least - mask) % 2:
        nearest = " or ".join(str(near) for near in (mask - 1, mask + 1) if 0 <= near <= least)
        raise InputError(
            f"mask (--mask) is {mask}, and such a square has no centre on {pixels}, where its side is {allowed}; "
            f"use {nearest}."
        )
    return Box((height - mask) // 2, (width - mask) // 2, mask, mask)


def prepared_images(stimuli: Stimuli, settings: ProbeSettings) -> NDArray[np.float32]:
    """Apply mask and contrast."""
    images = stimuli.images
    if settings.mask is not None:
        images = mask_images(images, central_box(settings.mask, images.shape[-2], images.shape[-1]), settings.fill)
    return scale_contrast(images, settings.contrast) if settings.contrast != 1 else images
