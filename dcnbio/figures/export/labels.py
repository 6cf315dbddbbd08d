"""Tells results apart in the names of files: by their own names, else by their types, their folders, or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dcnbio.figures.export.sources import Source

__all__ = ["distinct_labels"]


def distinct_labels(sources: Sequence[Source]) -> list[str]:
    """Give each result a label that no other has, also where a file system takes a and A for the same.

    Parameters
    ----------
    sources : sequence of Source

    Examples
    --------
    >>> distinct_labels([Source("scales", {}, "a", "", "a.nc"), Source("scales", {}, "b", "", "b.nc")])
    ['a', 'b']
    >>> distinct_labels([Source("recording", {}, "a", "", "a.zarr"), Source("recording", {}, "a", "", "a.nc")])
    ['a-zarr', 'a-nc']
    >>> distinct_labels([Source("scales", {}, "a", "", "old/a.nc"), Source("scales", {}, "a", "", "new/a.nc")])
    ['old-a', 'new-a']
    >>> distinct_labels([Source("scales", {}, "a", ""), Source("scales", {}, "a", "")])
    ['a-1', 'a-2']
    """
    alike: dict[str, list[int]] = {}
    for place, source in enumerate(sources):
        alike.setdefault(source.name.casefold(), []).append(place)
    labels = [source.name for source in sources]
    for places in alike.values():
        for place, label in zip(places, told_apart([sources[place] for place in places]), strict=True):
            labels[place] = label
    return labels if differ(labels) else numbered(sources)


def differ(labels: Sequence[str]) -> bool:
    """Say whether labels are all different."""
    return len({label.casefold() for label in labels}) == len(labels)


def told_apart(sources: Sequence[Source]) -> list[str]:
    """Take the first way of naming results of the same name that tells them apart."""
    return next((labels for labels in ways(sources) if differ(labels)), numbered(sources))


def ways(sources: Sequence[Source]) -> Iterator[list[str]]:
    """List the labels by name, by type of file, and by as many of the folders as it takes."""
    yield [source.name for source in sources]
    if not all(source.path for source in sources):
        return
    paths = [Path(source.path).resolve() for source in sources]
    yield [f"{source.name}{path.suffix.replace('.', '-')}" for source, path in zip(sources, paths, strict=True)]
    for depth in range(1, max(len(path.parts) for path in paths)):
        above = [path.parts[1:-1][-depth:] for path in paths]
        yield ["-".join((*folders, source.name)) for folders, source in zip(above, sources, strict=True)]


def numbered(sources: Sequence[Source]) -> list[str]:
    """Number results in the order they were given."""
    return [f"{source.name}-{number}" for number, source in enumerate(sources, 1)]
