"""A random generator for each part of an analysis."""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["own_generator"]


def own_generator(seed: int, *about: str) -> np.random.Generator:
    """Give each part a generator of its own: what is said of a network must not depend on which stand beside it.

    Parameters
    ----------
    seed : int
        Of the whole analysis, 0 or more.
    *about : str
        What tells the part from all others, such as the weights' number and the name of a layer.

    Examples
    --------
    >>> draws = [own_generator(seed, layer).random() for seed, layer in ((0, "a"), (0, "a"), (0, "b"), (1, "a"))]
    >>> draws[0] == draws[1], len(set(draws))
    (True, 3)
    """
    digest = hashlib.sha256("/".join(about).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], "<u4").tolist()])
