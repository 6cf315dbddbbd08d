"""Which images of a source are taken: by class, by position, or a number spread evenly over the classes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcnbio.errors import InputError

__all__ = ["Selection", "select"]


@dataclass(frozen=True)
class Selection:
    """What to take from a source; the default is everything. No part of it is random.

    Attributes
    ----------
    limit : int, optional
        Take this many images, spread evenly over the classes that are left, in the source's order: the first of
        every class, then the second of every class, and so on. Without labels, the first ones.
    indices : sequence of int, optional
        Take these positions in the source, in the order given; excludes the other two.
    classes : sequence of str, or str, optional
        Take images of these classes only.

    Examples
    --------
    >>> select([0, 0, 1, 1], ["cat", "dog"], Selection(indices=[3, 0]))
    array([3, 0])
    """

    limit: int | None = None
    indices: Sequence[int] | NDArray[np.integer] | None = None
    classes: Sequence[str] | str | None = None


def select(labels: ArrayLike, class_names: Sequence[str], selection: Selection) -> NDArray[np.int64]:
    """Return the positions of the images that a selection takes.

    Parameters
    ----------
    labels : array of int [n]
        Label of every image of the source, -1 where unknown.
    class_names : sequence of str
        The name of every label.
    selection : Selection
        What to take.

    Returns
    -------
    array of int64
        Positions in the source: ascending, but for `indices`, whose order is kept.

    Raises
    ------
    InputError
        For a limit or position that is not there, a repeated one, an unknown class, or nothing to take.

    Examples
    --------
    >>> select([0, 0, 0, 1, 1, 1], ["cat", "dog"], Selection(limit=3))
    array([0, 1, 3])
    >>> select([0, 0, 0, 1, 1, 1], ["cat", "dog"], Selection(classes="dog"))
    array([3, 4, 5])
    """
    known = np.asarray(labels, dtype=np.int64)
    if selection.indices is not None:
        if selection.limit is not None or selection.classes is not None:
            raise InputError("indices was given together with limit or classes: give the positions, or the rule")
        return _explicit(selection.indices, known.size)
    positions = np.arange(known.size, dtype=np.int64)
    if selection.classes is not None:
        positions = positions[_of_classes(known, class_names, selection.classes)]
    if not positions.size:
        raise InputError("the source has no image to take")
    if selection.limit is None:
        return positions
    return positions[_spread(known[positions], selection.limit)]


def _spread(labels: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Take `limit` images in rounds over the classes: order by rank within the class, then by label."""
    number = _integer("limit", limit)
    if not 1 <= number <= labels.size:
        raise InputError(
            f"limit is {number}, but there are {labels.size} images to take from: give 1 to {labels.size}, or no limit "
            "(--limit all)"
        )
    by_class = np.argsort(labels, kind="stable")
    _, first, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
    rank = np.empty(labels.size, dtype=np.int64)
    rank[by_class] = np.arange(labels.size) - np.repeat(first, counts)
    return np.sort(np.lexsort((labels, rank))[:number])


def _explicit(indices: Sequence[int] | NDArray[np.integer], size: int) -> NDArray[np.int64]:
    if np.ndim(indices) != 1:
        raise InputError(f"indices is {indices!r}: give a list of positions in the source")
    positions = [_integer("indices", index) for index in indices]
    if not positions:
        raise InputError("indices is empty: give at least one position, or leave it out to take every image")
    outside = sorted({index for index in positions if not 0 <= index < size})
    if outside:
        raise InputError(
            f"indices has {', '.join(map(str, outside[:10]))} ({len(outside)} in all), but the source has {size} "
            f"images, at positions 0 to {size - 1}"
        )
    seen, counts = np.unique(positions, return_counts=True)
    if (counts > 1).any():
        repeated = seen[counts > 1]
        raise InputError(
            f"indices has {', '.join(map(str, repeated[:10]))} more than once ({repeated.size} in all): "
            "give every position once"
        )
    return np.asarray(positions, dtype=np.int64)


def _of_classes(
    labels: NDArray[np.int64], class_names: Sequence[str], classes: Sequence[str] | str
) -> NDArray[np.bool_]:
    if np.ndim(classes) > 1 or not isinstance(classes, Iterable):
        raise InputError(f"classes is {classes!r}: give a list of class names")
    wanted = [classes] if isinstance(classes, str) else list(classes)
    if not wanted:
        raise InputError("classes is empty: give at least one class name, or leave it out to take every class")
    unknown = [name for name in wanted if name not in class_names]
    if unknown:
        raise InputError(
            f"classes has {', '.join(map(repr, unknown[:10]))}, which the source does not know: "
            f"its classes are {', '.join(class_names)}"
        )
    if len(set(wanted)) < len(wanted):
        raise InputError(f"classes names a class more than once ({', '.join(wanted)}): give every class once")
    absent = [name for name in wanted if not (labels == class_names.index(name)).any()]
    if absent:
        raise InputError(f"the source has no image of class {', '.join(absent)}: leave it out of classes")
    return np.isin(labels, [class_names.index(name) for name in wanted])


def _integer(name: str, value: object) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} has {value!r}, which is no whole number: give whole numbers") from None
