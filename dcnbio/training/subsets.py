"""Which images of the training set are trained on and which are held out: equal numbers of each class, by seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.training.recipe_parts import Data

__all__ = ["draw_per_class", "refuse_one_class", "split_images"]

# the streams of random numbers that one seed gives rise to
HELD_OUT, SUBSET = 1, 2

Positions = NDArray[np.int64]


def draw_per_class(labels: NDArray[np.int64], counts: NDArray[np.int64], generator: np.random.Generator) -> Positions:
    """Draw `counts[c]` images of each class c without replacement; give their positions in ascending order.

    Examples
    --------
    >>> draw_per_class(np.array([0, 0, 1, 1]), np.array([2, 1]), np.random.default_rng(0)).shape
    (3,)
    """
    chosen = []
    for label, count in enumerate(counts):
        members = np.flatnonzero(labels == label)
        if count > len(members):
            raise InputError(
                f"{count} images of class {label} are asked for, but there are {len(members)}; ask for fewer "
                "(per_class, held_out), or give images of that class."
            )
        chosen.append(generator.choice(members, count, replace=False))
    return np.sort(np.concatenate(chosen))


def refuse_one_class(labels: NDArray[np.int64]) -> None:
    """Refuse a training set of a single class: whatever is trained on it answers with that class.

    Examples
    --------
    >>> refuse_one_class(np.array([0, 1, 1]))
    """
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InputError(
            f"all {len(labels)} training images are of class {int(classes[0])}, from which nothing can be learned; "
            "give images of two classes or more."
        )


def split_images(labels: NDArray[np.int64], data: Data, seed: int) -> tuple[Positions, Positions]:
    """Give the positions of the images to train on and of those held out.

    Parameters
    ----------
    labels : int array, shape (n,)
    data : Data
    seed : int
        The run's.

    Returns
    -------
    tuple of int array
        To train on, ascending, and held out, in random order.

    Examples
    --------
    >>> kept, held = split_images(np.repeat([0, 1], 50), Data(held_out=20), seed=0)
    >>> len(kept), len(held), len(np.intersect1d(kept, held))
    (80, 20, 0)
    """
    classes = int(labels.max()) + 1
    shares = np.full(classes, data.held_out // classes) + (np.arange(classes) < data.held_out % classes)
    generator = np.random.default_rng([data.held_out_seed, HELD_OUT])
    # in random order, so that the first of them are of all classes
    held = generator.permutation(draw_per_class(labels, shares, generator))
    rest = np.setdiff1d(np.arange(len(labels)), held)
    if data.per_class is None:
        return rest, held
    subset_seed = seed if data.subset_seed is None else data.subset_seed
    wanted = np.full(classes, data.per_class)
    return rest[draw_per_class(labels[rest], wanted, np.random.default_rng([subset_seed, SUBSET]))], held
