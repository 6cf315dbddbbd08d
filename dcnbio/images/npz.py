"""Images from a NumPy archive (.npz) of arrays `images` and, if they are there, `labels`, `files`, `class_names`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError
from dcnbio.images.class_names import CIFAR10_CLASSES, labels_by_name
from dcnbio.images.image_set import unit_range
from dcnbio.images.pixels import FIX_RANGE, FIX_SIZE, RESIZED, SIDE, BadImage, Pixels, out_of_range, resample
from dcnbio.images.source import Found, Source
from dcnbio.images.stand_in import stand_in_at

__all__ = ["open_npz"]

CHANNEL_FIRST = "images were stored channel first"
NAMED = 10


def open_npz(path: Path) -> Source:
    """Read images [n, 32, 32, 3] from a .npz, without unpickling anything.

    `images` is uint8, or floating point in [0, 1]; [n, 3, 32, 32] and grey [n, 32, 32] or [n, 32, 32, 1] are taken too.
    `labels` [n] are CIFAR-10's, with -1 for unknown, unless `class_names` names others; `files` [n] is text.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Source
        Its images, in the order of the array. Whether single images are finite is checked when they are taken.

    Raises
    ------
    ImageError
        When it is damaged, lacks `images`, or its values or labels are not what they have to be.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "a.npz"), images=np.zeros((2, 32, 32, 3), np.uint8), labels=[3, 5])
    ...     open_npz(Path(folder, "a.npz")).labels
    array([3, 5])
    """
    arrays = _load(path)
    images, notices = _channel_last(arrays["images"], path)
    _check_values(images, path)
    count = len(images)
    labels, class_names, more = _labels(arrays, count, path)
    files = [f"{path.name}:{i}" for i in range(count)]
    if "files" in arrays:
        if arrays["files"].shape != (count,) or arrays["files"].dtype.kind != "U":
            raise ImageError(f"{path} has files {_is(arrays['files'])}: store one text for each of the {count} images")
        files = [str(file) for file in arrays["files"]]

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i, position in enumerate(positions):
            yield i, _image(images[position], resize)

    return Source(f"NumPy archive {path}", files, labels, class_names, pixels, (*notices, *more))


def _load(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array, not named ones")
            if "images" not in archive:
                held = ", ".join(archive.files[:NAMED]) or "none"
                raise ImageError(f"{path} has no array 'images'; it has {held}: store them [n, {SIDE}, {SIDE}, 3]")
            return {name: archive[name] for name in ("images", "labels", "files", "class_names") if name in archive}
    except ImageError:
        raise
    except Exception as error:  # damage shows as a dozen kinds, down to those of Python's own tokenizer
        instead = stand_in_at(path)
        if instead is not None:
            raise ImageError(f"{path} is no readable NumPy archive: it is {instead}") from error
        raise ImageError(
            f"{path} is no readable NumPy archive ({str(error) or type(error).__name__}): write it again with "
            "numpy.savez, without Python objects in it"
        ) from error


def _channel_last(images: NDArray[Any], path: Path) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return images [n, y, x, 3 or 1], whatever the order of axes they came in."""
    notices: tuple[str, ...] = ()
    if images.shape in ((SIDE, SIDE, 3), (3, SIDE, SIDE)):
        raise ImageError(f"{path} has images {_is(images)}, which is one image: store it as images[None]")
    if images.ndim == 3:
        images = images[..., None]
    elif images.ndim == 4 and images.shape[3] not in (1, 3) and images.shape[1] == 3:
        images, notices = images.transpose(0, 2, 3, 1), (CHANNEL_FIRST,)
    if images.ndim != 4 or images.shape[3] not in (1, 3) or 0 in images.shape[1:]:
        raise ImageError(
            f"{path} has images {_is(images)}: store RGB as [n, {SIDE}, {SIDE}, 3] or grey as [n, {SIDE}, {SIDE}]"
        )
    return images, notices


def _check_values(images: NDArray[Any], path: Path) -> None:
    """Refuse what is wrong with all images alike: the type, and the scale of the finite values."""
    if images.dtype == np.uint8:
        return
    if images.dtype.kind != "f" or images.dtype.itemsize > 8:
        raise ImageError(f"{path} has images {_is(images)}: store uint8 (0 to 255) or floating point in [0, 1]")
    low = float(np.min(images, where=np.isfinite(images), initial=0))
    high = float(np.max(images, where=np.isfinite(images), initial=0))
    if low < 0 or high > 1:
        raise ImageError(f"{path} has images with {out_of_range(low, high)}: {FIX_RANGE}")


def _image(image: NDArray[Any], resize: bool) -> Pixels | BadImage:
    values = image.transpose(2, 0, 1)
    if values.dtype != np.uint8:
        if not np.isfinite(values).all():
            return BadImage("non-finite values", FIX_RANGE)
        values = values.astype(np.float32)
    if values.shape[0] == 1:
        values = np.repeat(values, 3, axis=0)
    height, width = values.shape[1:]
    if (height, width) == (SIDE, SIDE):
        return Pixels(values)
    if not resize:
        return BadImage(f"{width} x {height} pixels, not {SIDE} x {SIDE}", FIX_SIZE)
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = values[:, top : top + side, left : left + side]
    return Pixels(resample(unit_range(square)), (RESIZED,))


def _labels(
    arrays: dict[str, NDArray[Any]], count: int, path: Path
) -> tuple[NDArray[np.int64], tuple[str, ...], tuple[str, ...]]:
    if "labels" not in arrays:
        return np.full(count, -1, dtype=np.int64), CIFAR10_CLASSES, ()
    labels = arrays["labels"]
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise ImageError(f"{path} has labels {_is(labels)}: store one whole number for each of the {count} images")
    own_names = CIFAR10_CLASSES
    if "class_names" in arrays:
        names = arrays["class_names"]
        if names.ndim != 1 or names.dtype.kind != "U" or not names.size:
            raise ImageError(f"{path} has class_names {_is(names)}: store one text for each class")
        own_names = tuple(str(name) for name in names)
    if count and not -1 <= int(labels.min()) <= int(labels.max()) < len(own_names):
        raise ImageError(
            f"{path} has labels from {labels.min()} to {labels.max()}: allowed are 0 to {len(own_names) - 1}, "
            "and -1 for unknown; store class_names beside them for another set of classes"
        )
    by_name, class_names, notices = labels_by_name(own_names, str(path))
    to_label = np.array([*(by_name[name] for name in own_names), -1], dtype=np.int64)
    return to_label[labels.astype(np.int64)], class_names, notices


def _is(array: NDArray[Any]) -> str:
    return f"of type {array.dtype} and shape {array.shape}"
