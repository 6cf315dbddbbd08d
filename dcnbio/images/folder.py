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

MOST_FILES = 2_000_000


def open_folder(root: Path, split: Split) -> Source:
    """List the images of a folder: of class folders, of train and test with class folders, or loose ones.

    Links to folders are followed; one that leads back to a folder it lies in is passed over with a notice.

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
    paths, circles = _files(root)
    tree = arrange(paths, split, str(root))

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i, position in enumerate(positions):
            yield i, _read(root.joinpath(*tree.paths[position]), resize)

    labels = np.asarray(tree.labels, dtype=np.int64)
    files = [joined(path) for path in tree.paths]
    notices = tree.notices
    if circles:
        notices += (
            f"links of {root} that lead back to a folder they lie in were passed over: {len(circles)}, first "
            f"{joined(min(circles))}",
        )
    return Source(tree.described("folder", root), files, labels, tree.class_names, pixels, notices)


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


def _files(root: Path) -> tuple[list[Parts], list[Parts]]:
    """List all files, and the links to folders that lead in circles."""
    found: list[Parts] = []
    circles: list[Parts] = []
    # of every folder that is still to be listed: itself and those above it, whatever name leads there
    chains = {os.fspath(root): {_identity(root)}}

    def refuse(error: OSError) -> None:
        raise ImageError(f"{error.filename} cannot be listed ({error.strerror}): check its permissions") from error

    for folder, below, names in os.walk(root, onerror=refuse, followlinks=True):
        above, parts = chains.pop(folder), Path(folder).relative_to(root).parts
        kept = []
        for name in below:
            if name.startswith("."):
                continue
            place = os.path.join(folder, name)
            identity = _identity(place)
            if identity in above:
                circles.append((*parts, name))
            else:
                chains[place] = above | {identity}
                kept.append(name)
        below[:] = kept
        found += [(*parts, name) for name in names]
        if len(found) + len(chains) > MOST_FILES:
            raise ImageError(f"{root} holds more than {MOST_FILES:,} files: name the folder of the images themselves")
    return found, circles


def _identity(folder: str | Path) -> tuple[int, int]:
    """Tell a folder from every other, by device and inode."""
    try:
        status = os.stat(folder)
    except OSError as error:
        raise ImageError(f"{folder} cannot be listed ({error.strerror}): check its permissions") from error
    return status.st_dev, status.st_ino
