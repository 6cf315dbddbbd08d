"""Follows the links of an archive within it, as those of a folder are followed, and never out of it."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from dcnbio.errors import ImageError
from dcnbio.images.tree import Parts, joined

__all__ = ["linked_files"]

LONGEST_CHAIN = 40  # of links that lead to links, as Linux has it
MOST_ENTRIES = 2_000_000


def linked_files(
    members: Iterable[tarfile.TarInfo], where: str
) -> tuple[dict[Parts, tarfile.TarInfo], tuple[str, ...]]:
    """Find every path of an archive that leads to a regular file in it.

    Parameters
    ----------
    members : iterable of TarInfo
        In the order of the archive, with names that stay within it; of a path that is there twice, the last counts.
    where : str
        The archive, for messages.

    Returns
    -------
    files : dict of tuple of str to TarInfo
        Path in parts to the member that has the content.
    notices : tuple of str
        How many entries were passed over: devices, and links that lead out of the archive, to nothing, or in circles.

    Raises
    ------
    ImageError
        When links make more than two million entries of it.

    Examples
    --------
    >>> file, link = tarfile.TarInfo("cat/1.png"), tarfile.TarInfo("dog")
    >>> link.type, link.linkname = tarfile.SYMTYPE, "cat"
    >>> sorted(linked_files([file, link], "a.tar")[0])
    [('cat', '1.png'), ('dog', '1.png')]
    """
    tree = ArchiveTree()
    for member in members:
        tree.add(member)
    files: dict[Parts, tarfile.TarInfo] = {}
    for count, (path, found) in enumerate(tree.entries(), 1):
        if count > MOST_ENTRIES:
            raise ImageError(f"{where} holds more than {MOST_ENTRIES:,} entries: name an archive of the images alone")
        if found is not None:
            files[path] = found
    if not tree.lost:
        return files, ()
    first = joined(min(tree.lost))
    return files, (
        f"links of {where} that lead out of it, to no file or in circles, and its devices were passed over: "
        f"{len(tree.lost)}, first {first}",
    )


class ArchiveTree:
    """The entries of an archive as folders, files and symbolic links."""

    def __init__(self) -> None:
        self.entry: dict[Parts, tarfile.TarInfo] = {}
        self.below: dict[Parts, dict[str, None]] = {(): {}}
        self.lost: set[Parts] = set()

    def add(self, member: tarfile.TarInfo) -> None:
        """Take up one member; a hard link is the file that had its name by then."""
        parts = PurePosixPath(member.name).parts
        if not parts:
            return
        if member.islnk():
            target = self.entry.get(PurePosixPath(member.linkname).parts)
            if target is None:
                self.lost.add(parts)
                return
            member = target
        for depth in range(len(parts)):
            self.below.setdefault(parts[:depth], {})[parts[depth]] = None
        self.lost.discard(parts)
        if member.isdir():
            self.below.setdefault(parts, {})
        else:
            self.entry[parts] = member

    def real(self, parts: Parts) -> Parts | None:
        """Give the place that a path leads to without links; None outside the archive, or where there is nothing."""
        found: Parts = ()
        ahead, links = list(reversed(parts)), 0
        while ahead:
            part = ahead.pop()
            if part == "..":
                if not found:
                    return None
                found = found[:-1]
                continue
            found = (*found, part)
            member = self.entry.get(found)
            if member is not None and member.issym():
                target, links = PurePosixPath(member.linkname), links + 1
                if target.is_absolute() or links > LONGEST_CHAIN:
                    return None
                found = found[:-1]
                ahead.extend(reversed(target.parts))
        return found if found in self.entry or found in self.below else None

    def entries(self) -> Iterator[tuple[Parts, tarfile.TarInfo | None]]:
        """Walk through folders, also those that links lead to; a folder's own entry has no member."""
        ahead: list[tuple[Parts, Parts, tuple[Parts, ...]]] = [((), (), ((),))]
        while ahead:
            path, place, above = ahead.pop()
            for name in self.below[place]:
                there = self.real((*place, name))
                member = None if there is None else self.entry.get(there)
                if there in self.below and there not in above:
                    ahead.append(((*path, name), there, (*above, there)))
                    yield (*path, name), None
                elif member is not None and member.isreg():
                    yield (*path, name), member
                else:
                    self.lost.add((*path, name))
