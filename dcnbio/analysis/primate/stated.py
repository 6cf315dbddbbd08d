"""Published values without a histogram: slopes with their errors, numbers of abstracts, and N-jets by theory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from dcnbio.analysis.primate.published import rows_of
from dcnbio.errors import InputError

__all__ = ["PublishedSlope", "level_diameter", "njet_values", "published_slope", "stated_value"]

SLOPES, STATED = "primate/v1_scale_invariance.csv", "primate/stated_values.csv"
THEORY, LEVELS = "primate/njet_theory.csv", "primate/rf_diameter_by_area.csv"
MOST_CELLS = 100_000


@dataclass(frozen=True)
class PublishedSlope:
    """A published slope against log2 preferred spatial frequency.

    Attributes
    ----------
    value : float
    scaled : float
        That of one shape which is scaled, as a pure N-jet's.
    error : float
        Standard error, which follows from the published correlation and its p value.
    """

    value: float
    scaled: float
    error: float


def t_of(r: float, p: float) -> float:
    """Find Student's t of a correlation from its two-sided p: n, which is not published, is where they agree."""
    low, high = 3, MOST_CELLS
    while high - low > 1:
        n = (low + high) // 2
        t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
        low, high = (n, high) if 2 * stats.t.sf(t, n - 2) > p else (low, n)
    return abs(r) * math.sqrt((high - 2) / (1 - r * r))


def published_slope(variable: str) -> PublishedSlope:
    """Give a slope of Chen et al. 2020, table 2.

    Parameters
    ----------
    variable : str
        As data/primate/v1_scale_invariance.csv begins its name.

    Returns
    -------
    PublishedSlope

    Raises
    ------
    InputError
        If there is no such slope.

    Examples
    --------
    >>> found = published_slope("log2(1/sigma_x)")
    >>> found.value, found.scaled, round(found.error, 3)
    (0.08, 1.0, 0.035)
    """
    rows = [row for row in rows_of(SLOPES) if row["variable"].startswith(variable)]
    found = {row["statistic"]: row for row in rows}
    if "slope vs log2(fo)" not in found or not found["slope vs log2(fo)"]["scale_invariant_slope"]:
        raise InputError(f"variable is {variable!r}, which has no published slope against log2 spatial frequency.")
    value = float(found["slope vs log2(fo)"]["value"])
    t = t_of(float(found["pearson_r"]["value"]), float(found["p_value"]["value"]))
    return PublishedSlope(value, float(found["slope vs log2(fo)"]["scale_invariant_slope"]), abs(value) / t)


def stated_value(citation: str, quantity: str, part: str = "") -> float:
    """Give a number of an abstract.

    Parameters
    ----------
    citation, quantity : str
        As data/primate/stated_values.csv begins them.
    part : str
        Eccentricity or area, where several are stated.

    Examples
    --------
    >>> stated_value("Sceniak", "ratio of spatial-summation"), stated_value("Croner", "surround/centre", "RGC P")
    (2.3, 6.7)
    """
    for row in rows_of(STATED):
        named = row["citation"].startswith(citation) and row["quantity"].startswith(quantity)
        if named and (not part or part in (row["eccentricity"], row["area"], f"{row['area']} {row['eccentricity']}")):
            return float(row["value"])
    raise InputError(f"{quantity!r} of {citation!r} {part} is not among the stated values of data/primate.")


def njet_values(quantity: str, criterion: str) -> dict[str, float]:
    """Give what pure N-jet kernels of order 1 and 2 have, by their closed forms.

    Examples
    --------
    >>> njet_values("100*f_low/f_high", "0.707")
    {'order 1': 29.42, 'order 2': 42.79}
    """
    rows = [row for row in rows_of(THEORY) if row["quantity"] == quantity and row["criterion"].startswith(criterion)]
    if not rows:
        raise InputError(f"{quantity!r} at {criterion!r} is not in data/primate/njet_theory.csv.")
    return {f"order {row['derivative_order']}": float(row["value"]) for row in rows}


def level_diameter(area: str) -> float:
    """Give the diameter of receptive fields of an area at 5 degrees of eccentricity, in degrees.

    Examples
    --------
    >>> level_diameter("V2") / level_diameter("V1")
    1.6923076923076923
    """
    return next(float(row["rf_diameter_deg"]) for row in rows_of(LEVELS) if row["area"] == area)
