"""Which of a result's claims stand in a report's summary: what a reader would ask first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcnbio.commands.report_subject import MASK

__all__ = ["HEADLINES", "headlines"]

LEAST = 4  # claims of a result in the summary, where it has as many

# parts of the names of claims, in the order they are shown in; the report's own network is named first in a result
HEADLINES: dict[str, tuple[str, ...]] = {
    "scales": (
        "slope of log2 sigma with depth",
        "slope of log2(sigma_T / sigma_0) with depth",
        "largest distance D from the fitted log-normal",
        "share of the final variance of log sigma that training made",
    ),
    "completion": (
        f"accuracy change by a mask of {MASK} pixels",
        "block 1: the paper's D(T) / D(0), A = A(t)",
        "block 1: completion index",
        "block 1: index of the mask minus that of white noise of equal norm",
        "block 1: change of retrieval from 0 to T",
    ),
    "contrast": (
        "accuracy at contrast 0.06 minus 1, T fixed",
        "accuracy at contrast 0.06 minus 1, T-hat",
        "evaluations of block 1 at contrast 0.06 with T-hat, minus contrast 1",
        "accuracy at contrast 0.06 minus 1, all inputs scaled, T-hat everywhere",
    ),
    "responses": (
        "preferred spatial frequency (cycles/pixel), median",
        "circular variance of orientation, median",
        "suppression index, median",
        "change of peak time at a quarter contrast (octaves), median",
    ),
    "primate": (
        "nx = sigma_x f of the field, median of log2",
        "surround / summation diameter, median of log2",
        "growth of the summation field at low contrast beyond the law's",
        "peak time at low contrast",
    ),
}


def headlines(kind: str, claims: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Choose a result's claims for the summary, of those that are numbers.

    Parameters
    ----------
    kind : str
        Of the result.
    claims : sequence of mapping
        Plain values of claims.

    Returns
    -------
    list of mapping
        The first claim of each headline; then, up to four, the others in their order.

    Examples
    --------
    >>> names = ["a: accuracy at contrast 0.01 minus 1, T fixed", "a: accuracy at contrast 0.06 minus 1, T fixed"]
    >>> [claim["name"] for claim in headlines("contrast", [{"name": name, "estimate": 0.5} for name in names])][0]
    'a: accuracy at contrast 0.06 minus 1, T fixed'
    """
    there = [claim for claim in claims if claim["estimate"] is not None]
    matches = (next((one for one in there if part in one["name"]), None) for part in HEADLINES.get(kind, ()))
    chosen = [one for one in matches if one is not None]
    others = [claim for claim in there if claim not in chosen]
    return [*chosen, *others[: max(0, LEAST - len(chosen))]]
