"""What goes in: images from files, chosen, masked, scaled in contrast, and stimuli that are drawn.

xarray is needed by the four functions alone that return a labelled data set.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dcnbio.images.canvas import Canvas, paint, render
from dcnbio.images.class_names import CIFAR10_CLASSES
from dcnbio.images.contrast import scale_contrast
from dcnbio.images.gratings import Grating
from dcnbio.images.image_set import TRANSFORM, ImageSet, images_id
from dcnbio.images.masks import Box, central_boxes, central_mask, mask_images
from dcnbio.images.plaids import Plaid
from dcnbio.images.read import read_images
from dcnbio.images.selection import Selection
from dcnbio.images.shipped import shipped
from dcnbio.images.sparse_noise import SparseNoise, sparse_noise
from dcnbio.images.spectrum_noise import equal_spectrum_noise, phase_scrambled
from dcnbio.images.spots import Annulus, Blank, Spot
from dcnbio.images.surrounds import CentreSurround
from dcnbio.images.white_noise import white_noise
from dcnbio.images.windows import Window

if TYPE_CHECKING:
    from dcnbio.images.batteries import battery
    from dcnbio.images.dataset import load_images, to_dataset
    from dcnbio.images.labelled_stimuli import label_stimuli

LABELLED = {
    "battery": "batteries",
    "label_stimuli": "labelled_stimuli",
    "load_images": "dataset",
    "to_dataset": "dataset",
}

__all__ = [
    "CIFAR10_CLASSES",
    "TRANSFORM",
    "Annulus",
    "Blank",
    "Box",
    "Canvas",
    "CentreSurround",
    "Grating",
    "ImageSet",
    "Plaid",
    "Selection",
    "SparseNoise",
    "Spot",
    "Window",
    "battery",
    "central_boxes",
    "central_mask",
    "equal_spectrum_noise",
    "images_id",
    "label_stimuli",
    "load_images",
    "mask_images",
    "paint",
    "phase_scrambled",
    "read_images",
    "render",
    "scale_contrast",
    "shipped",
    "sparse_noise",
    "to_dataset",
    "white_noise",
]


def __getattr__(name: str) -> Any:
    """Import what needs xarray when it is first asked for."""
    if name in LABELLED:
        return getattr(import_module(f"dcnbio.images.{LABELLED[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
