"""Images in a folder, in class folders or loose, and a single image file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError
from dcnbio.images.class_names import CIFAR10_CLASSES
from dcnbio.images.pixels import BadImage, Pixels, decode_image
from dcnbio.images.source import Found, Source
from dcnbio.images.tree import Parts, Split, arrange, joined

__all__ = ["open_folder", "open_single"]

DEEPEST = 6  # also ends links that lead in circles
MOST_FILES = 2_000_000


def open_folder(root: Path, split: Split) -> Source:
    """List the images of a folder: of class folders, of train and test with class folders, or loose ones.

    Parameters
    ----------
    root : Path
        The folder.
    split : "train" or "test"
        Which of the two is taken, where the folder has them.

    Returns
    -------
    Source
        Its images, sorted by path.

    Raises
    ------
    ImageError
        When it cannot be listed, or what it holds is not clear.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "cat").mkdir()
    ...     _ = Path(folder, "cat", "1.png").write_bytes(b"")
    ...     open_folder(Path(folder), "test").labels
    array([3])
    """
    tree = arrange(_files(root), split, str(root))

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i, position in enumerate(positions):
            yield i, _read(root.joinpath(*tree.paths[position]), resize)

    labels = np.asarray(tree.labels, dtype=np.int64)
    files = [joined(path) for path in tree.paths]
    return Source(tree.described("folder", root), files, labels, tree.class_names, pixels, tree.notices)


def open_single(path: Path) -> Source:
    """Take one image file, whose label is unknown.

    Examples
    --------
    >>> open_single(Path("cat.png")).labels
    array([-1])
    """

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i in range(len(positions)):
            yield i, _read(path, resize)

    return Source(f"image {path}", [path.name], np.array([-1], dtype=np.int64), CIFAR10_CLASSES, pixels)


def _read(path: Path, resize: bool) -> Pixels | BadImage:
    try:
        data = path.read_bytes()
    except OSError as error:
        return BadImage(f"cannot be read ({error.strerror or error})")
    return decode_image(data, resize=resize)


def _files(root: Path) -> list[Parts]:
    found: list[Parts] = []

    def refuse(error: OSError) -> None:
        raise ImageError(f"{error.filename} cannot be listed ({error.strerror}): check its permissions") from error

    for folder, below, names in os.walk(root, onerror=refuse, followlinks=True):
        parts = Path(folder).relative_to(root).parts
        below[:] = [name for name in below if not name.startswith(".")] if len(parts) < DEEPEST else []
        found += [(*parts, name) for name in names]
        if len(found) > MOST_FILES:
            raise ImageError(f"{root} holds more than {MOST_FILES:,} files: name the folder of the images themselves")
    return found
