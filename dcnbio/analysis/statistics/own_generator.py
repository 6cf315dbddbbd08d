"""A generator of its own for each part of an analysis, so that no part's draws depend on what stands beside it."""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["own_generator"]


def own_generator(seed: int, *about: str) -> np.random.Generator:
    """Give each part a generator of its own: what is said of a network must not depend on which stand beside it.

    Parameters
    ----------
    seed : int
        Of the analysis.
    *about : str
        The part: the weights of the network, and what is drawn for it.

    Examples
    --------
    >>> draws = [own_generator(seed, layer).random() for seed, layer in ((0, "a"), (0, "a"), (0, "b"), (1, "a"))]
    >>> draws[0] == draws[1], len(set(draws))
    (True, 3)
    """
    digest = hashlib.sha256("/".join(about).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], "<u4").tolist()])
