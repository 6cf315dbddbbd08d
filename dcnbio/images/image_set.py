"""What reading gives back: images with their labels, names and history, as plain arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TRANSFORM", "ImageSet", "images_id", "unit_range"]

TRANSFORM = "RGB / 255, no mean or sd (ToTensor)"


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Selected images as arrays, without labelled dimensions.

    Attributes
    ----------
    images : array [n, 3, 32, 32]
        RGB, channel first: float32 in [0, 1] (NaN where an image is in `problems`), or uint8 on request.
    labels : array of int64 [n]
        Position in `class_names`; -1 where unknown.
    files : object array of str [n]
        Name of every image in its source.
    stimulus : array of int64 [n]
        Position of every image in its source.
    class_names : tuple of str
        The name of every label.
    source : str
        What was read.
    notices : tuple of str
        What was done to the images beyond dividing by 255, one sentence each.
    problems : dict of int to str
        Why an image could not be used, by its `stimulus`; empty unless reading was told to mark bad images.

    Examples
    --------
    >>> from dcnbio.images import Selection, read_images
    >>> found = read_images(selection=Selection(limit=2))
    >>> found.images.shape, found.files[0], [found.class_names[label] for label in found.labels]
    ((2, 3, 32, 32), 'test/airplane/0000.jpg', ['airplane', 'automobile'])
    """

    images: NDArray[np.float32] | NDArray[np.uint8]
    labels: NDArray[np.int64]
    files: NDArray[np.object_]
    stimulus: NDArray[np.int64]
    class_names: tuple[str, ...]
    source: str
    notices: tuple[str, ...] = ()
    problems: dict[int, str] = field(default_factory=dict)


def unit_range(images: NDArray[np.uint8] | NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return values as float32 in [0, 1]: 8-bit x as x / 255, in single precision like ToTensor; others as they are.

    Examples
    --------
    >>> unit_range(np.array([0, 51, 255], dtype=np.uint8))
    array([0. , 0.2, 1. ], dtype=float32)
    """
    if images.dtype != np.uint8:
        return images.astype(np.float32, copy=False)
    result: NDArray[np.float32] = np.divide(images, np.float32(255), dtype=np.float32)
    return result


def images_id(images: NDArray[np.float32] | NDArray[np.uint8]) -> str:
    """Return the identity of images: SHA-256 over their shape and their values as little-endian float32 in [0, 1].

    8-bit images and the same images divided by 255 have one identity; labels and names are no part of it.

    Parameters
    ----------
    images : array [n, 3, y, x]
        uint8, or floating point in [0, 1].

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits.

    Examples
    --------
    >>> eight_bit = np.full((1, 3, 32, 32), 51, dtype=np.uint8)
    >>> images_id(eight_bit) == images_id(unit_range(eight_bit))
    True
    """
    digest = hashlib.sha256(f"{images.shape}".encode())
    for start in range(0, len(images), 1000):
        values = unit_range(images[start : start + 1000])
        digest.update(np.ascontiguousarray(values, dtype="<f4").tobytes())
    return f"sha256:{digest.hexdigest()}"
