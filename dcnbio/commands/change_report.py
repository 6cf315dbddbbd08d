"""What ``dcnbio analyze responses --intervention`` prints: what each intervention changes, within 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcnbio.commands.table import marked, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcnbio.analysis.responses.change_beside_twin import ChangeBesideTwin

__all__ = ["SHOWN", "change_tables"]

# of the changes under interventions, those that the table shows, in 21 letters; all of them are in --json
SHOWN = {
    "accuracy": "accuracy",
    "maximum_response": "largest response",
    "circular_variance": "circular variance",
    "preferred_spatial_frequency": "preferred frequency",
    "spatial_frequency_bandwidth": "frequency bandwidth",
    "f1_f0": "F1 / F0",
    "summation_diameter": "summation field",
    "suppression_index": "suppression index",
    "cross_orientation_suppression": "by a mask across",
    "c50": "c50",
    "peak_time": "peak time",
    "field_sigma_moments": "local field's sigma",
}
SHORT_UNITS = {"octaves": "oct", "1": "", "solver time": "", "percent": "%"}


def change_tables(changes: Sequence[ChangeBesideTwin]) -> list[str]:
    """Lay out what each intervention changes, beside the untrained network, and how much more it does."""
    tables: dict[str, list[list[str]]] = {}
    for one in changes:
        if one.measure in SHOWN:
            label = one.intervention if one.block is None else f"{one.intervention}, block {one.block}"
            tables.setdefault(label, []).append(change_row(one))
    if not tables:
        return []
    header = ["change of", "n", "is", "95 %", "law", "untr.", "more"]
    about = (
        "what an intervention changes: the median over units of the change of each (accuracy: the mean over images), "
        "what the contrast-time law gives for it from a lower contrast, the same change in the untrained network, and "
        "trained minus untrained (* its 95 % interval leaves out 0; - too few units, a median is a limit, or an "
        "end of the interval lies beyond all that is known). What the norms make of a change is what --intervention "
        "norm=N changes."
    )
    return [wrapped(about), *(f"{label}\n{table(header, rows)}" for label, rows in tables.items()), chance(changes)]


def change_row(one: ChangeBesideTwin) -> list[str]:
    """Lay out one change."""
    limits = one.change.interval.to_list()
    between = " to ".join(hundredths(limit) for limit in limits) if limits else "-"
    more = hundredths(one.more) + "*" * one.differs if one.more_interval.exists else "-"
    name = f"{SHOWN[one.measure]}, {SHORT_UNITS.get(one.units, one.units)}".removesuffix(", ")
    change, law, untrained = (
        "-" if found is None else marked(hundredths(found.value), found.beyond)
        for found in (one.change, one.by_law, one.untrained)
    )
    return [name, str(one.change.n), change, between, law, untrained, more]


def hundredths(value: float) -> str:
    """Write a change, none of which is large, to two decimals; a dash where it is not known.

    Examples
    --------
    >>> hundredths(-0.5678), hundredths(-0.001), hundredths(float("nan"))
    ('-0.57', '0.00', '-')
    """
    return "-" if value != value else f"{value:.2f}".replace("-0.00", "0.00")


def chance(changes: Sequence[ChangeBesideTwin]) -> str:
    """Say how many differences leave out 0, and how many of as many would by chance."""
    tested = [one for one in changes if one.more_interval.exists]
    if not tested:
        return "No difference between the two networks has an interval."
    return wrapped(
        f"Of {len(tested)} differences (those of --json included) {sum(one.differs for one in tested)} leave out 0, "
        f"where {0.05 * len(tested):.1f} would if the networks changed alike."
    )
