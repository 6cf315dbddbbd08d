"""Tells from a path what kind of source it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dcnbio.errors import ImageError
from dcnbio.images.archive import archive_files, open_image_archive
from dcnbio.images.folder import open_folder, open_single
from dcnbio.images.npz import open_npz
from dcnbio.images.official import FOLDERS, layout_of, open_official_archive, open_official_folder
from dcnbio.images.source import Source
from dcnbio.images.tree import Split

__all__ = ["open_source"]

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
# what people keep images in, and what no reader of images opens
TABLES = (".npy", ".mat", ".h5", ".hdf5", ".pkl", ".pickle", ".pt", ".pth", ".parquet", ".csv", ".tfrecord")


def open_source(path: Path, split: Split) -> Source:
    """List what a path holds, whichever of the known kinds it is.

    In this order: a folder of CIFAR-10 batches, or one that has `cifar-10-batches-py` or `cifar-10-batches-bin` in it
    (where both, python, which has the file names); any other folder, of images; a tar archive, of batches or of images;
    a .npz; a single image.

    Parameters
    ----------
    path : Path
        A folder or file.
    split : "train" or "test"
        Which split is read, where the source has both.

    Returns
    -------
    Source
        Names, labels and a way to the pixels.

    Raises
    ------
    ImageError
        When it is missing, or is not readable as any of these.

    Examples
    --------
    >>> from dcnbio.images.shipped import shipped
    >>> len(open_source(shipped("images/cifar10_test_1000.npz"), "test").files)
    1000
    """
    name = path.name.lower()
    try:
        if path.is_dir():
            return _open_folder(path, split)
        if not path.exists():
            raise ImageError(f"images {path} do not exist: give a folder, an archive, a .npz or an image file")
        if not path.is_file():
            raise ImageError(f"{path} is no regular file: give a folder, an archive, a .npz or an image file")
    except (OSError, ValueError) as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(f"images {str(path)!r} cannot be looked up ({error}): check the path") from error
    if name.endswith(ARCHIVES):
        files, notices = archive_files(path)
        layout = layout_of(parts[-1] for parts in files)
        if layout is not None:
            source = open_official_archive(path, files, layout, split)
        else:
            source = open_image_archive(path, files, split)
        return replace(source, notices=(*source.notices, *notices))
    if name.endswith(".npz"):
        return open_npz(path)
    if name.endswith((".zip", ".7z", ".rar")):
        raise ImageError(f"{path} is a kind of archive that is not read: unpack it and name the folder")
    if name.endswith(TABLES):
        raise ImageError(
            f"{path} is no image, and files of its kind are not read: store the arrays with numpy.savez as "
            "images [n, 32, 32, 3] and labels [n], or give a folder of images"
        )
    if layout_of([path.name]) is not None:
        raise ImageError(f"{path} is one batch of CIFAR-10: name the folder it lies in, {path.parent}")
    return open_single(path)


def _open_folder(path: Path, split: Split) -> Source:
    layout = layout_of(entry.name for entry in path.iterdir() if entry.is_file())
    if layout is not None:
        return open_official_folder(path, layout, split)
    for below_layout, folder in FOLDERS.items():
        if (path / folder).is_dir():
            return open_official_folder(path / folder, below_layout, split)
    return open_folder(path, split)
