"""Turns what a person gives as images into arrays, masked and scaled as the settings ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images import CIFAR10_CLASSES, central_boxes, images_id, mask_images, scale_contrast
from dcnbio.probe.settings import ProbeSettings

__all__ = ["Stimuli", "as_stimuli", "prepared_images"]

NORMALISED = (
    "values from {0:.3g} to {1:.3g}: a DCN takes RGB / 255 in [0, 1] with no mean or sd, so undo the normalisation"
)


@dataclass(frozen=True)
class Stimuli:
    """Images with what is known of them.

    Attributes
    ----------
    images : float32 array [n, 3, y, x], in [0, 1]
    labels : int64 array [n]
        -1 where unknown.
    files : list of str
    stimulus : int64 array [n]
        Position in the source.
    class_names : list of str
    source : str
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    files: list[str]
    stimulus: NDArray[np.int64]
    class_names: list[str]
    source: str

    def __len__(self) -> int:
        return len(self.images)

    @property
    def identity(self) -> str:
        """SHA-256 of the images' values."""
        return images_id(self.images)

    def first(self, count: int) -> Stimuli:
        """Give the first images alone."""
        part = slice(count)
        return replace(
            self,
            images=self.images[part],
            labels=self.labels[part],
            files=self.files[part],
            stimulus=self.stimulus[part],
        )


def from_dataset(data: xr.Dataset) -> Stimuli:
    """Read a Dataset as `load_images` gives it."""
    if "image" not in data or data["image"].dims[0] != "stimulus":
        raise InputError(
            f"data has the variables {list(data.data_vars)}; give a Dataset from dcnbio.load_images, with "
            "image (stimulus, channel, y, x)."
        )
    n = data.sizes["stimulus"]
    label = data.get("label")
    names = CIFAR10_CLASSES if label is None else label.attrs.get("class_names", CIFAR10_CLASSES)
    return Stimuli(
        images=np.ascontiguousarray(data["image"].transpose("stimulus", "channel", "y", "x").values, dtype=np.float32),
        labels=np.full(n, -1) if label is None else label.values.astype(np.int64),
        files=[str(name) for name in data["file"].values] if "file" in data else [""] * n,
        stimulus=data["stimulus"].values.astype(np.int64) if "stimulus" in data.coords else np.arange(n),
        class_names=[str(name) for name in names],
        source=str(data.attrs.get("source", "a Dataset")),
    )


def as_stimuli(data: xr.Dataset | NDArray[Any] | torch.Tensor | Stimuli) -> Stimuli:
    """Accept a Dataset from `load_images`, or bare images as an array or tensor (n, 3, y, x) in [0, 1].

    Raises
    ------
    InputError
        If shape, type or range is not that of RGB images in [0, 1].
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
    bare = Stimuli(images.astype(np.float32), np.full(n, -1), [""] * n, np.arange(n), names, "an array")
    return checked(bare)


def checked(stimuli: Stimuli) -> Stimuli:
    """Refuse empty sets and values that are no RGB in [0, 1]."""
    if len(stimuli) == 0:
        raise InputError("there are no images to record; check the folder, limit and classes.")
    finite = np.isfinite(stimuli.images).all(axis=(1, 2, 3))
    if not finite.all():
        bad = stimuli.stimulus[~finite]
        raise InputError(f"{len(bad)} images hold non-finite values (stimulus {bad[:10].tolist()}); leave them out.")
    least, most = float(stimuli.images.min()), float(stimuli.images.max())
    if least < -1e-6 or most > 1 + 1e-6:
        raise InputError(f"images have {NORMALISED.format(least, most)}.")
    return stimuli


def prepared_images(stimuli: Stimuli, settings: ProbeSettings) -> NDArray[np.float32]:
    """Apply mask and contrast."""
    images = stimuli.images
    if settings.mask is not None:
        boxes = central_boxes(settings.mask, images.shape[-1])
        if len(boxes) > 1:
            raise InputError(
                f"mask is {settings.mask}, and an odd square has no centre on {images.shape[-1]} pixels; "
                f"use {settings.mask - 1} or {settings.mask + 1}."
            )
        images = mask_images(images, boxes[0], settings.fill)
    return scale_contrast(images, settings.contrast) if settings.contrast != 1 else images
