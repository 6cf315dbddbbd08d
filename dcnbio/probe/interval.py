"""The interval of a proportion, such as an accuracy over images."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["accuracy_interval"]


def accuracy_interval(right: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Give Wilson's interval of a proportion [1]_.

    Parameters
    ----------
    right, n : int
        Successes, and trials (at least one).
    level : float
        Coverage.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Notes
    -----
    It misleads when read as an interval over training seeds: images alone vary in it.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
       doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> [round(x, 3) for x in accuracy_interval(737, 1000)]
    [0.709, 0.763]
    """
    # written out, since importing scipy.stats takes longer than a hundred images
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = right / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)
