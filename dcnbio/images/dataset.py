"""Images with labelled dimensions: the one file of this room that needs xarray."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import xarray as xr

from dcnbio.images.image_set import TRANSFORM, ImageSet, images_id, unit_range
from dcnbio.images.read import read_images
from dcnbio.images.selection import Selection
from dcnbio.images.tree import Split

__all__ = ["load_images", "to_dataset"]


def load_images(
    source: str | os.PathLike[str] | None = None,
    *,
    split: Split = "test",
    limit: int | None = None,
    indices: Sequence[int] | None = None,
    classes: Sequence[str] | str | None = None,
    resize: bool = False,
) -> xr.Dataset:
    """Read images as a labelled data set, RGB / 255.

    Parameters
    ----------
    source : path, optional
        CIFAR-10 in an official layout (folder, parent, or archive), a folder or tar archive of images, a .npz, or an
        image file; left out, the 1,000 test images that come with dcnbio.
    split : "train" or "test"
        Which split, where the source has both.
    limit : int, optional
        How many images, spread evenly over the classes, in the source's order.
    indices : sequence of int, optional
        Positions in the source, in this order, instead of `limit` and `classes`.
    classes : sequence of str, or str, optional
        Classes to take.
    resize : bool
        Whether images of another size than 32 x 32 are cut to their central square and resized.

    Returns
    -------
    xarray.Dataset
        `image` (stimulus, channel, y, x) float32 in [0, 1]; `label` (stimulus) int64, -1 where unknown, with attribute
        class_names; `file` (stimulus); coordinates `stimulus` (position in the source) and `channel` (r, g, b).
        Attributes: source, images_id, transform, notices and problems (both JSON).

    Raises
    ------
    ImageError
        When the source or an image of it cannot be used.
    InputError
        When an argument is not one of those allowed, or selects what is not there.

    Notes
    -----
    It misleads when the images are normalised again: DCNs take RGB / 255 as it is.

    Examples
    --------
    >>> data = load_images(limit=100)
    >>> dict(data.sizes)
    {'stimulus': 100, 'channel': 3, 'y': 32, 'x': 32}
    >>> data.label.groupby(data.label).count().values
    array([10, 10, 10, 10, 10, 10, 10, 10, 10, 10])
    """
    selection = Selection(limit=limit, indices=indices, classes=classes)
    return to_dataset(read_images(source, split=split, selection=selection, resize=resize))


def to_dataset(images: ImageSet) -> xr.Dataset:
    """Give the arrays of an image set their dimensions, coordinates and attributes.

    Parameters
    ----------
    images : ImageSet
        What `read_images` returned; uint8 images are divided by 255.

    Returns
    -------
    xarray.Dataset
        As `load_images` returns it. `problems` is JSON of {stimulus: reason} for the images that are NaN.

    Examples
    --------
    >>> data = to_dataset(read_images(selection=Selection(limit=10)))
    >>> data.image.attrs["units"], data.attrs["images_id"][:7]
    ('1', 'sha256:')
    """
    values = unit_range(images.images)
    label_attrs = {"long_name": "class label", "units": "1", "class_names": list(images.class_names)}
    return xr.Dataset(
        {
            "image": (("stimulus", "channel", "y", "x"), values, {"long_name": "stimulus image", "units": "1"}),
            "label": ("stimulus", images.labels, label_attrs),
            "file": ("stimulus", images.files, {"long_name": "file name"}),
        },
        coords={
            "stimulus": ("stimulus", images.stimulus, {"long_name": "position in the source", "units": "1"}),
            "channel": ("channel", ["r", "g", "b"], {"long_name": "colour channel"}),
        },
        attrs={
            "source": images.source,
            "images_id": images_id(values),
            "transform": TRANSFORM,
            "notices": json.dumps(list(images.notices)),
            "problems": json.dumps({str(stimulus): reason for stimulus, reason in images.problems.items()}),
        },
    )
