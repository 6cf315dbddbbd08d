"""Comparisons of what low contrast does to field size and timing, beyond what the network's norm builds in."""

from __future__ import annotations

import math

import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.bounds import between_studies
from dcnbio.analysis.primate.comparison import Bound, Published, Question
from dcnbio.analysis.primate.model_values import Units, log_ratio, one_measure
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.stated import stated_value

__all__ = ["TIMING", "change_questions"]

TIMING = "peak time at low contrast, median of log2(low / high)"
TIME_OCTAVES = math.log2(20)  # between the first and the last time that is read
SCENIAK, KAPADIA = "Sceniak et al. 1999, doi:10.1038/11197", "Kapadia et al. 1999, doi:10.1073/pnas.96.21.12073"


def later(measures: xr.Dataset, first: str = "peak_time_low_contrast", second: str = "peak_time") -> Units:
    """Give log2 of one peak time over another; a response that is largest at T peaks later, so is a lower limit."""
    values, side = log_ratio(measures, (first, 1), (second, 1), 0.0)
    return one_measure(measures, values, side, (-TIME_OCTAVES, TIME_OCTAVES))


def held_shift(measures: xr.Dataset) -> tuple[Units, Units] | None:
    """Give the shift of peak time as it is, and with the norms' statistics held."""
    names = ("peak_time_low_contrast_frozen", "peak_time_frozen")
    return (later(measures), later(measures, *names)) if set(names) <= set(measures) else None


def law_shift(measures: xr.Dataset) -> Units | None:
    """Give the shift of peak time that the contrast-time law gives."""
    return later(measures, "peak_time_low_contrast", "peak_time_law") if "peak_time_law" in measures else None


def growth(measures: xr.Dataset, shown: ShownRange, first: str, second: str) -> Units:
    """Give log2 of one summation diameter over another."""
    low, high = shown.ends("diameter")
    values, side = log_ratio(measures, (first, None), (second, None), 2**low)
    return one_measure(measures, values, side, (low - high, high - low))


def change_questions(shown: ShownRange) -> list[Asked]:
    """Ask how fields grow at low contrast, against either study, and whether responses come later."""

    def beyond_law(measures: xr.Dataset) -> Units:
        # log2(low / high) less the law's log2(low / law), where "law" is the high contrast's from the low one
        return growth(measures, shown, "summation_diameter_law", "summation_diameter")

    def by_law(measures: xr.Dataset) -> Units:
        return growth(measures, shown, "summation_diameter_low_contrast", "summation_diameter_law")

    def frozen(measures: xr.Dataset) -> Units | None:
        names = ("summation_diameter_low_contrast_frozen", "summation_diameter_frozen")
        return growth(measures, shown, *names) if set(names) <= set(measures) else None

    found = []
    for citation, source in (("Sceniak", SCENIAK), ("Kapadia", KAPADIA)):
        times = stated_value(citation, "ratio of")
        question = Question(
            f"growth of the summation field at low contrast beyond the law's, against {times:g} times",
            "octaves",
            "median",
            Published(f"{source}: {times:g} times", value=math.log2(times)),
            between_studies(),
            "only what exceeds the contrast-time law counts; the published growth comes without n or spread",
        )
        found.append(Asked(question, beyond_law, law=by_law, frozen=frozen))
    timing = Question(
        TIMING,
        "octaves",
        "median",
        Published("sign alone: cortex is later (Albrecht 1995, doi:10.1017/s0952523800006817)", value=0.0),
        Bound(0.0, "the sign alone is asked"),
        "the contrast-time law makes a DCN earlier at low contrast, by up to log2 of the contrasts' ratio",
    )
    return [*found, Asked(timing, later, held_shift, law_shift)]
