"""What goes in: images from files, chosen, masked, scaled in contrast; xarray is needed by `load_images` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcnbio.images.class_names import CIFAR10_CLASSES
from dcnbio.images.contrast import scale_contrast
from dcnbio.images.image_set import TRANSFORM, ImageSet, images_id
from dcnbio.images.masks import Box, central_boxes, central_mask, mask_images
from dcnbio.images.read import read_images
from dcnbio.images.selection import Selection
from dcnbio.images.shipped import shipped

if TYPE_CHECKING:
    from dcnbio.images.dataset import load_images, to_dataset

__all__ = [
    "CIFAR10_CLASSES",
    "TRANSFORM",
    "Box",
    "ImageSet",
    "Selection",
    "central_boxes",
    "central_mask",
    "images_id",
    "load_images",
    "mask_images",
    "read_images",
    "scale_contrast",
    "shipped",
    "to_dataset",
]


def __getattr__(name: str) -> Any:
    """Import the two functions that need xarray when they are first asked for."""
    if name in ("load_images", "to_dataset"):
        from dcnbio.images import dataset

        return getattr(dataset, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
