"""Makes sense of a list of file paths: which are images, which split they belong to, and which class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dcnbio.errors import ImageError
from dcnbio.images.class_names import CIFAR10_CLASSES, labels_by_name
from dcnbio.stored_text import stored_text

__all__ = ["SPLITS", "Parts", "Split", "Tree", "arrange", "joined"]

Split = Literal["train", "test"]
Parts = tuple[str, ...]
SPLITS: tuple[Split, ...] = ("train", "test")
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm", ".pnm")
SYSTEM_FILES = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True)
class Tree:
    """The image files of one split, sorted by path, with their labels.

    Attributes
    ----------
    paths : list of tuple of str
        Path of every image below the root, in parts.
    labels : list of int
        Position in `class_names`; -1 for images that lie in no class folder.
    class_names : tuple of str
        The name of every label.
    notices : tuple of str
        What a reader of the results has to know.
    split : "train" or "test", optional
        Which of its two folders of these names was taken; None where it has neither.
    """

    paths: list[Parts]
    labels: list[int]
    class_names: tuple[str, ...]
    notices: tuple[str, ...]
    split: Split | None = None

    def described(self, kind: str, where: object) -> str:
        """Name the source, with the split where it has any.

        Examples
        --------
        >>> Tree([("cat", "1.png")], [3], ("cat",), ()).described("folder", "mine")
        'folder mine'
        """
        return f"{kind} {where}" + (f", {self.split}" if self.split else "")


def arrange(paths: Iterable[Parts], split: Split, where: str) -> Tree:
    """Find the images of a split among paths such as `test/cat/0001.png`, `cat/0001.png` or `0001.png`.

    A single outer folder is passed over. Hidden files and those of operating systems are passed over in silence, other
    files that are no images with a notice. Images lie either all in class folders, at any depth, or all in none.

    Parameters
    ----------
    paths : iterable of tuple of str
        Every file below the root, in parts.
    split : "train" or "test"
        Which of two folders of these names is taken, where they are there.
    where : str
        What holds the files, for messages.

    Returns
    -------
    Tree
        The images, sorted by path, so that a folder and an archive of it agree on every position.

    Raises
    ------
    ImageError
        When there are no images, the split is missing, images lie both in and beside class folders, or the classes
        are not clear.

    Examples
    --------
    >>> tree = arrange([("test", "dog", "1.png"), ("test", "cat", "1.png"), ("train", "dog", "2.png")], "test", "here")
    >>> tree.paths, tree.labels
    ([('test', 'cat', '1.png'), ('test', 'dog', '1.png')], [3, 5])
    """
    visible = [p for p in paths if not any(part.startswith(".") or part in SYSTEM_FILES for part in p)]
    images = sorted(p for p in visible if p[-1].lower().endswith(SUFFIXES))
    others = sorted(p for p in visible if not p[-1].lower().endswith(SUFFIXES))
    if not images:
        held = ", ".join(joined(p) for p in others[:5]) or "nothing"
        raise ImageError(
            f"{where} holds no image files ({', '.join(SUFFIXES)}) and no CIFAR-10 batches; it holds {held}: "
            "name a folder or archive of images, or one of these files"
        )
    notices = []
    if others:
        notices.append(
            f"files of {where} that are no images were passed over: {len(others)}, first {joined(others[0])}"
        )
    outer = _outer_folders(images)
    found = {p[outer] for p in images if len(p) > outer + 1} & set(SPLITS)
    if found:
        images = [p for p in images if p[outer] == split]
        outer += 1
        if not images:
            raise ImageError(
                f"{where} has no images in {split!r}; it has the split {', '.join(sorted(found))!r}: ask for it"
            )
    elif split == "train":
        notices.append(f"{where} has no folders train and test: all its images were taken")
    labels, class_names, more = _labels([p[outer:] for p in images], where)
    return Tree(images, labels, class_names, (*notices, *more), split if found else None)


def joined(parts: Parts) -> str:
    """Return a path as text with forward slashes and, for what is no UTF-8, question marks: any file can hold it.

    Examples
    --------
    >>> joined(("test", "cat", "1.png"))
    'test/cat/1.png'
    """
    return stored_text("/".join(parts))


def _outer_folders(images: list[Parts]) -> int:
    """How many outer folders are only a wrapping: alone, with folders in them, named like no class and no split."""
    depth = 0
    while True:
        names = {p[depth] for p in images}
        deeper = all(len(p) > depth + 2 for p in images)
        name = next(iter(names))
        if len(names) > 1 or not deeper or name in SPLITS or name.casefold() in CIFAR10_CLASSES:
            return depth
        depth += 1


def _labels(images: list[Parts], where: str) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
    loose = [p for p in images if len(p) == 1]
    if len(loose) == len(images):
        return [-1] * len(images), CIFAR10_CLASSES, ()
    if loose:
        raise ImageError(
            f"{where} holds images both in class folders and beside them ({len(loose)} beside, first {loose[0][0]}): "
            "move the ones or the others away"
        )
    by_name, class_names, notices = labels_by_name((p[0] for p in images), where)
    return [by_name[p[0]] for p in images], class_names, notices
