"""The comparisons that are sound; `bounds` says what each is held to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.bounds import between_kinds
from dcnbio.analysis.primate.change_questions import change_questions
from dcnbio.analysis.primate.comparison import Bound, Published, Question
from dcnbio.analysis.primate.frequency_questions import (
    DEVALOIS,
    bandwidth_questions,
    frequency_questions,
    preferred_frequency,
)
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.published import published_histogram
from dcnbio.analysis.primate.shape_questions import invariance_questions, shape_questions
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.size_questions import CAVANAUGH, size_questions, summation

__all__ = ["asked", "with_degrees"]


def asked(shown: ShownRange | None = None) -> list[Asked]:
    """List all comparisons that need no degrees.

    Parameters
    ----------
    shown : ShownRange, optional
        What the network was shown; the default range, if left out.

    Examples
    --------
    >>> len(asked()), sum(one.question.bound.value is not None for one in asked())
    (15, 13)
    """
    range_shown = ShownRange() if shown is None else shown
    return [
        *frequency_questions(range_shown),
        *size_questions(range_shown),
        *bandwidth_questions(range_shown),
        *shape_questions(),
        *invariance_questions(range_shown),
        *change_questions(range_shown),
    ]


def with_degrees(degrees_per_pixel: float, shown: ShownRange | None = None) -> list[Asked]:
    """List the comparisons that need degrees of visual angle, which only the user can declare.

    Published cells are moved to the ends of what was shown, in degrees.
    """
    range_shown = ShownRange() if shown is None else shown
    log = math.log2(degrees_per_pixel)
    kinds: tuple[tuple[str, str, str, str, float, Callable[[xr.Dataset, ShownRange], Units]], ...] = (
        (
            "preferred spatial frequency, median of log2 cycles/deg",
            "peak_spatial_frequency",
            DEVALOIS,
            "frequency",
            -log,
            preferred_frequency,
        ),
        ("summation diameter, median of log2 deg", "grating_summation_field", CAVANAUGH, "diameter", log, summation),
    )
    kind_bound = between_kinds("peak_spatial_frequency", "median")
    found = []
    for name, quantity, source, kind, by, values in kinds:
        low, high = range_shown.ends(kind)
        published = published_histogram(quantity).clipped(low + by, high + by)
        related = "" if kind == "frequency" else "related measure: median of log2 preferred spatial frequency, "
        bound = Bound(kind_bound.value, f"{related}{kind_bound.source}")
        question = Question(name, "octaves", "median", Published(source, published), bound)

        def units(
            measures: xr.Dataset, values: Callable[[xr.Dataset, ShownRange], Units] = values, by: float = by
        ) -> Units:
            own = values(measures, range_shown)
            return replace(own, values=own.values + by, ends=(own.ends[0] + by, own.ends[1] + by))

        found.append(Asked(question, units))
    return found
