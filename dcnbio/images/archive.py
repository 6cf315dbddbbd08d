"""Tar archives, read in place: nothing is unpacked to disk, and a damaged or cut archive is told from a whole one."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError
from dcnbio.images.archive_links import linked_files
from dcnbio.images.pixels import BadImage, Pixels, decode_image
from dcnbio.images.source import Found, Source
from dcnbio.images.stand_in import stand_in_at
from dcnbio.images.tree import Parts, Split, arrange, joined

__all__ = ["OFFICIAL_MD5", "archive_files", "md5_notice", "open_image_archive", "read_members"]

OFFICIAL_MD5 = {"python": "c58f30108f718f92721af3b95e74349a", "binary": "c32a1d4ab5d03f1284b67883e8d87530"}
LARGEST_MEMBER = 1 << 28
DAMAGE = (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, ValueError, OverflowError, MemoryError)
EMPTY_BLOCK = bytes(tarfile.BLOCKSIZE)


def archive_files(path: Path) -> tuple[dict[Parts, tarfile.TarInfo], tuple[str, ...]]:
    """Find every regular file of a tar archive, after the archive has been read to its end.

    Parameters
    ----------
    path : Path
        A .tar, .tar.gz, .tar.xz or .tar.bz2; the compression is found from its content.

    Returns
    -------
    files : dict of tuple of str to TarInfo
        Path in parts to the member that has the content; of a path that is there twice, the last.
    notices : tuple of str
        How many links and devices were passed over, if any.

    Raises
    ------
    ImageError
        When the archive is damaged, cut short, or names files outside itself.

    Notes
    -----
    Links are followed within the archive alone: with others it could point at files of the reader's machine.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tarfile.open(Path(folder, "a.tar"), "w") as tar:
    ...         tar.addfile(tarfile.TarInfo("cat/1.png"))
    ...     files, notices = archive_files(Path(folder, "a.tar"))
    >>> list(files), notices
    ([('cat', '1.png')], ())
    """
    with _opened(path) as tar:
        members = tar.getmembers()
        _read_to_end(tar, path)
    for member in members:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            raise ImageError(f"{path} names a file outside itself ({member.name!r}): do not use this archive")
    return linked_files(members, str(path))


def read_members(path: Path, members: Sequence[tarfile.TarInfo]) -> Iterator[tuple[int, bytes | BadImage]]:
    """Yield (i, content) of members, in the order they lie in the archive, so that it is read through once."""
    with _opened(path) as tar:
        for i in sorted(range(len(members)), key=lambda i: members[i].offset_data):
            member = members[i]
            if member.size > LARGEST_MEMBER:
                yield i, BadImage(f"{member.size:,} bytes, more than {LARGEST_MEMBER:,}")
                continue
            file = tar.extractfile(member)
            data = file.read() if file else b""
            yield i, data if len(data) == member.size else BadImage("cut short in the archive")


def open_image_archive(path: Path, files: dict[Parts, tarfile.TarInfo], split: Split) -> Source:
    """List the images of an archive, after the rules of a folder.

    Parameters
    ----------
    path : Path
        The archive.
    files : dict of tuple of str to TarInfo
        Its files, from `archive_files`.
    split : "train" or "test"
        Which of the two is taken, where the archive has them.

    Returns
    -------
    Source
        Its images, sorted by path.

    Raises
    ------
    ImageError
        When what it holds is not clear.
    """
    tree = arrange(files, split, str(path))
    members = [files[parts] for parts in tree.paths]

    def pixels(positions: NDArray[np.int64], resize: bool) -> Found:
        for i, data in read_members(path, [members[position] for position in positions]):
            yield i, _decoded(data, resize)

    labels = np.asarray(tree.labels, dtype=np.int64)
    names = [joined(parts) for parts in tree.paths]
    return Source(tree.described("archive", path), names, labels, tree.class_names, pixels, tree.notices)


def md5_notice(path: Path, layout: str) -> tuple[str, ...]:
    """Compare an archive with the official one of its layout; another sum is a notice, for the archive is whole."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found == OFFICIAL_MD5[layout]:
        return ()
    return (f"{path} is whole, but its md5 {found} differs from the official archive's {OFFICIAL_MD5[layout]}",)


def _decoded(data: bytes | BadImage, resize: bool) -> Pixels | BadImage:
    return data if isinstance(data, BadImage) else decode_image(data, resize=resize)


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """Open an archive, and turn whatever its damage raises while it is read into one message."""
    try:
        with tarfile.open(path) as tar:
            yield tar
    except ImageError:
        raise
    except PermissionError as error:
        raise ImageError(f"{path} cannot be read ({error.strerror}): check its permissions") from error
    except DAMAGE as error:
        # of a file that none of its readers opens, tarfile lists what each of them said, a line each
        cause = (str(error).splitlines() or [type(error).__name__])[0]
        raise ImageError(_damaged(path, cause.rstrip(": "))) from error


def _read_to_end(tar: tarfile.TarFile, path: Path) -> None:
    """Check what tarfile does not: the closing empty block, and the compression's own sums behind it."""
    file = tar.fileobj
    if file is None:
        raise ImageError(_damaged(path, "closed"))
    file.seek(tar.offset)
    if file.read(tarfile.BLOCKSIZE) != EMPTY_BLOCK:
        raise ImageError(_damaged(path, f"no end mark at byte {tar.offset}"))
    while file.read(1 << 20):
        continue


def _damaged(path: Path, cause: str) -> str:
    instead = stand_in_at(path)
    if instead is not None:
        return f"{path} is no tar archive: it is {instead}; nothing was changed"
    python, binary = OFFICIAL_MD5["python"], OFFICIAL_MD5["binary"]
    name = path.name.lower()
    if "python" in name or "-py" in name:
        official = f"the official CIFAR-10 python archive has md5 {python}"
    elif "binary" in name or "-bin" in name:
        official = f"the official CIFAR-10 binary archive has md5 {binary}"
    else:
        official = f"of the official CIFAR-10 archives, python has md5 {python} and binary {binary}"
    return (
        f"{path} is cut short or damaged, or no tar archive ({cause}): get it again ({official}); nothing was changed"
    )
