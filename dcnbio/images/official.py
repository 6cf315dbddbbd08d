"""CIFAR-10 in its two official layouts, from a folder or from the archives they are handed out as."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError
from dcnbio.images.archive import md5_notice, read_members
from dcnbio.images.class_names import CIFAR10_CLASSES, labels_by_name
from dcnbio.images.pixels import BadImage
from dcnbio.images.safe_pickle import load_batch_pickle
from dcnbio.images.source import Source, from_array
from dcnbio.images.tree import Parts, Split

__all__ = ["layout_of", "open_official_archive", "open_official_folder"]

Layout = Literal["python", "binary"]
FOLDERS: dict[Layout, str] = {"python": "cifar-10-batches-py", "binary": "cifar-10-batches-bin"}
SUFFIX: dict[Layout, str] = {"python": "", "binary": ".bin"}
META: dict[Layout, str] = {"python": "batches.meta", "binary": "batches.meta.txt"}
BATCHES: dict[Split, tuple[str, ...]] = {
    "train": tuple(f"data_batch_{number}" for number in range(1, 6)),
    "test": ("test_batch",),
}
PIXELS = 3 * 32 * 32


class Batch(NamedTuple):
    """One batch file: images [n, 3, 32, 32], labels by its own numbering, and file names where it holds them."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]
    files: list[str] | None = None


def layout_of(names: Iterable[str]) -> Layout | None:
    """Tell from file names which official layout they are of, if any.

    Examples
    --------
    >>> layout_of(["test_batch.bin", "readme.html"])
    'binary'
    """
    present = set(names)
    stems = [stem for batches in BATCHES.values() for stem in batches]
    for layout, suffix in SUFFIX.items():
        if any(stem + suffix in present for stem in stems):
            return layout
    return None


def open_official_folder(root: Path, layout: Layout, split: Split) -> Source:
    """Read one split of an official layout from its folder.

    Parameters
    ----------
    root : Path
        The folder of the batch files themselves.
    layout : "python" or "binary"
        Which of the two layouts it has.
    split : "train" or "test"
        Which split is read: all five training batches, or the test batch. Batches may be of any size.

    Returns
    -------
    Source
        Its images, in the order of the files.

    Raises
    ------
    ImageError
        When a batch is missing, damaged, or names code.
    """

    def read(name: str) -> bytes | None:
        path = root / name
        try:
            return path.read_bytes() if path.is_file() else None
        except OSError as error:
            raise ImageError(f"{path} cannot be read ({error.strerror}): check its permissions") from error

    return _open(read, layout, split, str(root), ())


def open_official_archive(path: Path, files: dict[Parts, tarfile.TarInfo], layout: Layout, split: Split) -> Source:
    """Read one split of an official layout from its archive; an md5 other than the official one is a notice."""
    by_name = {parts[-1]: member for parts, member in files.items()}
    wanted = [name for name in (*(stem + SUFFIX[layout] for stem in BATCHES[split]), META[layout]) if name in by_name]
    contents: dict[str, bytes] = {}
    for i, data in read_members(path, [by_name[name] for name in wanted]):
        if isinstance(data, BadImage):
            raise ImageError(f"{path}: {wanted[i]} is {data.reason}: {data.fix}")
        contents[wanted[i]] = data
    return _open(contents.get, layout, split, str(path), md5_notice(path, layout))


def _open(
    read: Callable[[str], bytes | None], layout: Layout, split: Split, where: str, notices: tuple[str, ...]
) -> Source:
    parse, parse_names = (_python_batch, _python_names) if layout == "python" else (_binary_batch, _binary_names)
    names = [stem + SUFFIX[layout] for stem in BATCHES[split]]
    contents = [(name, read(name)) for name in names]
    missing = [name for name, data in contents if data is None]
    if missing:
        raise ImageError(
            f"{where} lacks {', '.join(missing)}, which the {split} split in the {layout} layout is made of: "
            "get the whole archive, or ask for the other split"
        )
    batches = [parse(data, f"{where}: {name}") for name, data in contents if data is not None]
    labels = np.concatenate([batch.labels for batch in batches])
    meta = read(META[layout])
    own_names = CIFAR10_CLASSES if meta is None else parse_names(meta, f"{where}: {META[layout]}")
    if labels.min(initial=0) < 0 or labels.max(initial=0) >= len(own_names):
        raise ImageError(
            f"{where} has labels from {labels.min()} to {labels.max()}, but there are {len(own_names)} classes: "
            "it is damaged or not CIFAR-10; get it again"
        )
    by_name, class_names, more = labels_by_name(own_names, where)
    to_label = np.array([by_name[name] for name in own_names], dtype=np.int64)
    images = batches[0].images if len(batches) == 1 else np.concatenate([batch.images for batch in batches])
    files: list[str] = []
    for name, batch in zip(names, batches, strict=True):
        files += batch.files or [f"{name}:{i}" for i in range(len(batch.images))]
    if meta is None:
        more = (*more, f"{where} has no {META[layout]}: labels were taken to be CIFAR-10's own")
    description = f"CIFAR-10 {layout} layout {where}, {split}"
    return Source(description, files, to_label[labels], class_names, from_array(images), (*notices, *more))


def _binary_batch(data: bytes, where: str) -> Batch:
    """Split records of one label byte and 3,072 pixel bytes, channel first, row by row."""
    record = PIXELS + 1
    if not data or len(data) % record:
        raise ImageError(
            f"{where} has {len(data):,} bytes, which is no whole number of records of {record:,}: "
            "it is cut short or not CIFAR-10; get it again"
        )
    records = np.frombuffer(data, dtype=np.uint8).reshape(-1, record)
    images = records[:, 1:].reshape(-1, 3, 32, 32)
    return Batch(images, records[:, 0].astype(np.int64))


def _binary_names(data: bytes, where: str) -> tuple[str, ...]:
    names = tuple(line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip())
    if not names:
        raise ImageError(f"{where} names no class: get it again")
    return names


def _python_batch(data: bytes, where: str) -> Batch:
    found = load_batch_pickle(data, where)
    if "fine_labels" in found:
        raise ImageError(f"{where} is a batch of CIFAR-100, whose classes are others: give CIFAR-10")
    images, labels = found.get("data"), found.get("labels")
    if not isinstance(images, np.ndarray) or images.ndim != 2 or images.shape[1] != PIXELS or not len(images):
        raise ImageError(f"{where} has no array 'data' of images with {PIXELS:,} values each: get it again")
    if not isinstance(labels, list) or len(labels) != len(images) or any(type(label) is not int for label in labels):
        raise ImageError(f"{where} has no list 'labels' of {len(images)} whole numbers: get it again")
    bounded = [label if 0 <= label < 1000 else -1 for label in labels]
    files = _texts(found.get("filenames"), len(images))
    return Batch(images.reshape(-1, 3, 32, 32), np.array(bounded, dtype=np.int64), files)


def _python_names(data: bytes, where: str) -> tuple[str, ...]:
    found = load_batch_pickle(data, where).get("label_names")
    names = _texts(found, len(found) if isinstance(found, list) else 0)
    if not names:
        raise ImageError(f"{where} has no list 'label_names': get it again")
    return tuple(names)


def _texts(values: object, expected: int) -> list[str] | None:
    """Return text or bytes as a list of text, or None when it is no such list of the expected length."""
    if not isinstance(values, list) or len(values) != expected:
        return None
    if not all(isinstance(value, bytes | str) for value in values):
        return None
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]
