"""Reads images from any source into plain arrays: the one way in, for probing and training alike."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError, InputError
from dcnbio.images.image_set import ImageSet, unit_range
from dcnbio.images.open_source import open_source
from dcnbio.images.pixels import SIDE, BadImage
from dcnbio.images.selection import Selection, select
from dcnbio.images.shipped import shipped
from dcnbio.images.source import Source
from dcnbio.images.tree import SPLITS, Split

__all__ = ["SHIPPED_IMAGES", "read_images"]

SHIPPED_IMAGES = "images/cifar10_test_1000.npz"
SHIPPED_NOTICE = (
    "the shipped images are JPEG copies of CIFAR-10 test images (PSNR about 30 dB): a result on them is one on "
    "CIFAR-10 up to that loss"
)
ROUNDED = "values between two 8-bit steps were rounded to the nearest"
NAMED = 10


def read_images(
    source: str | os.PathLike[str] | None = None,
    *,
    split: Split = "test",
    selection: Selection | None = None,
    resize: bool = False,
    bad: Literal["refuse", "mark"] = "refuse",
    as_uint8: bool = False,
) -> ImageSet:
    """Read images as RGB / 255, channel first, from a path of any known kind.

    Known are CIFAR-10 in both official layouts (folder, its parent, or official archive), class folders and loose
    images (folder or tar archive), a .npz, and a single image. Only selected images are decoded. Nothing is unpacked,
    downloaded or changed.

    Parameters
    ----------
    source : path, optional
        What to read; left out, the 1,000 test images that come with dcnbio.
    split : "train" or "test"
        Which split, where the source has both.
    selection : Selection, optional
        Which images; left out, all.
    resize : bool
        Whether images of another size than 32 x 32 are cut to their central square and resized, where they would be
        refused.
    bad : "refuse" or "mark"
        Whether images that cannot be used end the reading, in one message that names them, or are kept as NaN with
        the reason in `problems`.
    as_uint8 : bool
        Whether images are returned as uint8, a quarter of the memory.

    Returns
    -------
    ImageSet
        Arrays images [n, 3, 32, 32], labels, files, stimulus, with class names, source and notices.

    Raises
    ------
    ImageError
        When the source or an image of it cannot be used.
    InputError
        When an argument is not one of those allowed, or selects what is not there.

    Notes
    -----
    It misleads when labels of classes other than CIFAR-10's are scored: compare `class_names` first.

    Examples
    --------
    >>> found = read_images(selection=Selection(limit=20))
    >>> found.images.shape, found.images.dtype
    ((20, 3, 32, 32), dtype('float32'))
    >>> np.bincount(found.labels)
    array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    _check_options(split, bad, as_uint8)
    found = _shipped_source(split) if source is None else open_source(_path(source), split)
    positions = select(found.labels, found.class_names, selection or Selection())
    images, notices, problems = _collect(found, positions, resize)
    if problems and bad == "refuse":
        raise ImageError(_refusal(found, positions, problems))
    if as_uint8:
        images, notices = _rounded(images, notices)
    else:
        images = unit_range(images)
    return ImageSet(
        images=images,
        labels=found.labels[positions],
        files=np.array([found.files[position] for position in positions], dtype=object),
        stimulus=positions,
        class_names=found.class_names,
        source=found.description,
        notices=(*found.notices, *notices),
        problems={int(positions[i]): problem.reason for i, problem in sorted(problems.items())},
    )


def _check_options(split: str, bad: str, as_uint8: bool) -> None:
    if split not in SPLITS:
        raise InputError(f'split is {split!r}: give "train" or "test"')
    if bad not in ("refuse", "mark"):
        raise InputError(f'bad is {bad!r}: give "refuse" or "mark"')
    if as_uint8 and bad == "mark":
        raise InputError('bad is "mark" together with as_uint8=True, but 8-bit images have no NaN: leave one out')


def _path(source: str | os.PathLike[str]) -> Path:
    if source == "":
        raise InputError(
            "source is '', which is no path: give a folder, archive or file, '.' for the folder you are in"
        )
    try:
        return Path(source).expanduser()
    except (TypeError, RuntimeError) as error:
        raise InputError(f"source is {source!r}, which is no path ({error}): give a folder, archive or file") from error


def _shipped_source(split: Split) -> Source:
    if split != "test":
        raise InputError('split is "train", but only test images come with dcnbio: name a source that holds CIFAR-10')
    found = open_source(shipped(SHIPPED_IMAGES), split)
    description = "CIFAR-10 test, the 1,000 images shipped with dcnbio"
    notices = (*found.notices, SHIPPED_NOTICE)
    return Source(description, found.files, found.labels, found.class_names, found.pixels, notices)


def _collect(
    found: Source, positions: NDArray[np.int64], resize: bool
) -> tuple[NDArray[np.float32] | NDArray[np.uint8], tuple[str, ...], dict[int, BadImage]]:
    """Decode the selected images: kept as uint8 until one comes that 8 bits cannot hold."""
    images: NDArray[np.uint8] | NDArray[np.float32] = np.empty((len(positions), 3, SIDE, SIDE), dtype=np.uint8)
    done: Counter[str] = Counter()
    first: dict[str, int] = {}
    problems: dict[int, BadImage] = {}
    for i, image in found.pixels(positions, resize):
        if isinstance(image, BadImage):
            problems[i] = image
            images = unit_range(images)
            images[i] = np.nan
            continue
        if image.values.dtype != images.dtype:
            images = unit_range(images)
        images[i] = unit_range(image.values) if images.dtype != np.uint8 else image.values
        for sentence in image.notices:
            done[sentence] += 1
            first[sentence] = min(i, first.get(sentence, i))
    notices = tuple(
        f"{sentence}: {count} of {len(positions)} images, first {found.files[positions[first[sentence]]]}"
        for sentence, count in done.items()
    )
    return images, notices, problems


def _refusal(found: Source, positions: NDArray[np.int64], problems: dict[int, BadImage]) -> str:
    named = [f"{found.files[positions[i]]} ({problems[i].reason})" for i in sorted(problems)[:NAMED]]
    more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
    fixes = list(dict.fromkeys(problem.fix for problem in problems.values()))
    return (
        f"{len(problems)} of {len(positions)} images of {found.description} cannot be used: {'; '.join(named)}{more}: "
        f"{', or '.join(fixes)}"
    )


def _rounded(
    images: NDArray[np.float32] | NDArray[np.uint8], notices: tuple[str, ...]
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    if images.dtype == np.uint8:
        return images.astype(np.uint8, copy=False), notices
    scaled = images * np.float32(255)
    rounded = np.rint(scaled).astype(np.uint8)
    exact = np.array_equal(unit_range(rounded), images)
    return rounded, notices if exact else (*notices, ROUNDED)
