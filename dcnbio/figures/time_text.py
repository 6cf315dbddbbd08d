"""Numbers such as recorded times in as few digits as tell them apart and give them back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["short_numbers"]

CLOSE = 1e-3  # of the smallest step: nearer than anything recorded, and room for what is a third
MOST = 17  # digits, that give back any float


def short_numbers(values: Sequence[float]) -> list[str]:
    """Write each number in as few digits as stay within a thousandth of the smallest step between them.

    Parameters
    ----------
    values : sequence of float
        Of one kind, such as the times of a figure.

    Returns
    -------
    list of str

    Examples
    --------
    >>> short_numbers([0.0, 0.25, 1.25, 2.0]), short_numbers([0.0, 2 / 3, 4 / 3])
    (['0', '0.25', '1.25', '2'], ['0', '0.667', '1.333'])
    >>> short_numbers([0.1 + 0.2, 1.0, 1.0001])
    ['0.3', '1', '1.0001']
    """
    numbers = np.asarray(values, dtype=np.float64)
    steps = np.diff(np.unique(numbers))
    near = CLOSE * float(steps.min()) if steps.size else 0.0
    return [shortest(float(value), near) for value in numbers]


def shortest(value: float, near: float) -> str:
    """Write a number in as few digits as stay near it; all that it has, where nothing is near."""
    for digits in range(1, MOST):
        text = f"{value:.{digits}g}"
        if abs(float(text) - value) <= near:
            # without an exponent where there is no need of one
            return f"{float(text):g}" if digits <= 6 else text
    return repr(value)
