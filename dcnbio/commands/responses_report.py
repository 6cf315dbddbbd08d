"""Lays out what ``dcnbio analyze responses`` found, within 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from dcnbio.commands.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from dcnbio.analysis.claim import Claim
    from dcnbio.analysis.responses.beyond import Beyond
    from dcnbio.analysis.responses.change_beside_twin import ChangeBesideTwin
    from dcnbio.analysis.responses.result import ResponsesResult

__all__ = ["report"]

ZERO = 1e-9  # what is smaller is rounding
UNTRAINED = "the same network untrained"
PREDICTED = ("contrast-time law", "made by the norms")
CHANGE = ": change of "
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
    "field_sigma_gradient": "local field's sigma",
}
SHORT_UNITS = {"octaves": "oct", "1": "", "solver time": "", "percent": "%"}
LIMITS = (
    "Units of one network are no sample of networks: with one training seed, all this is said of this network. "
    "The stimulus is the state at t = 0, so there is no duration, onset or steady state."
)


def report(found: ResponsesResult) -> str:
    """Lay out tables and sentences."""
    attrs, n = found.measures.attrs, found.measures.sizes["unit"]
    parts = [f"{attrs['network']} ({attrs['row']}), {n} units, medians; r = max(0, z(T) - z_blank(T))"]
    parts += median_tables(found.claims)
    for block, results in found.beyond.items():
        if results:
            parts.append(beyond_table(block, results))
    if found.growth is not None:
        parts.append(growth_table(found.growth))
    parts += change_tables(found.changes)
    parts.append("\n".join(wrapped(claim.conclusion) for claim in found.claims if is_said(claim)))
    parts += [wrapped(LIMITS), wrapped(f"Conclusion: {found.conclusion}")]
    return "\n\n".join(parts)


def is_said(claim: Claim) -> bool:
    """Say whether a claim needs its sentence, since it stands in no table."""
    if (CHANGE in claim.name and not claim.name.endswith("accuracy")) or claim.control.name in PREDICTED:
        return False
    return claim.control.name != UNTRAINED or "share of responsive" in claim.name


def median_tables(claims: Sequence[Claim]) -> list[str]:
    """Lay out medians beside those of the untrained network, a table for each block where there are several."""
    tables: dict[str, list[list[str]]] = {}
    for claim in claims:
        if claim.control.name == UNTRAINED and not is_said(claim):
            block, several, name = claim.name.partition(": ")
            block, name = (block, name) if several and block.startswith("block ") else ("", claim.name)
            tables.setdefault(block, []).append(row(claim, name))
    header = ["measure", "n", "median", "95 % over units", "untrained"]
    return [f"{block}\n{table(header, rows)}".strip() for block, rows in tables.items()]


def row(claim: Claim, name: str) -> list[str]:
    """Lay out one median."""
    interval = claim.interval.to_list()
    limits = f"{interval[0]:.3g} to {interval[1]:.3g}" if interval else "-"
    name = textwrap.shorten(name.removesuffix(", median"), 38, placeholder="...")
    return [name, str(claim.n), number(claim.estimate), limits, number(claim.control.estimate)]


def number(value: float, digits: int = 3) -> str:
    """Write a number, or a dash where it is not known.

    Examples
    --------
    >>> number(0.1234, 2), number(float("nan")), number(-1e-16, 2)
    ('0.12', '-', '0')
    """
    return "-" if value != value else f"{0.0 if abs(value) < ZERO else value:.{digits}g}"


def beyond_table(block: int, results: Sequence[Beyond]) -> str:
    """Lay out results beside their predictions, and what is left beside that of the untrained network."""
    rows = []
    for one in results:
        limits = one.interval.to_list()
        clear = limits is not None and (limits[0] > 0 or limits[1] < 0)
        more = "-" if limits is None else number(one.remains, 2) + "*" * clear
        twin = "-" if one.untrained_left is None else number(one.untrained_left.value, 2)
        medians = [number(found.value, 2) for found in (one.measured, one.predicted, one.frozen, one.left)]
        rows.append([one.short, one.by, str(one.measured.n), *medians, twin, more])
    header = ["result", "by", "n", "is", "pred.", "frozen", "left", "untr.", "more"]
    about = (
        f"block {block}: what the contrast-time law or the norms predict (pred.), the value with frozen norm "
        "statistics, what is left (octaves of a law's, or the frozen value), the same untrained, and trained minus "
        "untrained (* its 95 % interval over units leaves out 0; - fewer than 6 units); c/4: a quarter of the contrast"
    )
    return wrapped(about) + "\n" + table(header, rows)


def growth_table(growth: xr.Dataset) -> str:
    """Lay out the local field's sigma against time and block."""
    rows = []
    for i, block in enumerate(growth["block"].values.tolist()):
        sigma = [f"{value:.2f}" for value in growth["sigma"].values[i]]
        rows.append([str(block), str(int(growth["units"][i])), *sigma, f"{float(growth['linear'][i]):.2f}"])
    times = [f"t = {share:g} T" for share in growth["time"].values]
    return "local field, sigma in pixels (second moments)\n" + table(["block", "units", *times, "linear"], rows)


def change_tables(changes: Sequence[ChangeBesideTwin]) -> list[str]:
    """Lay out what each intervention changes, beside the untrained network, and how much more it does."""
    tables: dict[str, list[list[str]]] = {}
    for one in changes:
        if one.measure in SHOWN:
            label = one.intervention if one.block is None else f"{one.intervention}, block {one.block}"
            tables.setdefault(label, []).append(change_row(one))
    if not tables:
        return []
    header = ["change of", "n", "change", "95 %", "untr.", "more"]
    about = (
        "what an intervention changes: the median over units of the change of each (accuracy: over images), the same "
        "in the untrained network, and the one minus the other (* its 95 % interval leaves out 0; - too few)"
    )
    return [wrapped(about), *(f"{label}\n{table(header, rows)}" for label, rows in tables.items()), chance(changes)]


def change_row(one: ChangeBesideTwin) -> list[str]:
    """Lay out one change."""
    limits = one.interval.to_list()
    between = f"{limits[0]:.2g} to {limits[1]:.2g}" if limits else "-"
    more = number(one.more, 2) + "*" * one.differs if one.more_interval.exists else "-"
    name = f"{SHOWN[one.measure]}, {SHORT_UNITS.get(one.units, one.units)}".removesuffix(", ")
    return [name, str(one.n), number(one.change, 2), between, number(one.untrained, 2), more]


def chance(changes: Sequence[ChangeBesideTwin]) -> str:
    """Say how many differences leave out 0, and how many of as many would by chance."""
    tested = [one for one in changes if one.more_interval.exists]
    if not tested:
        return "No difference between the two networks has an interval."
    return wrapped(
        f"Of {len(tested)} differences (those of --json included) {sum(one.differs for one in tested)} leave out 0, "
        f"where {0.05 * len(tested):.1f} would if the networks changed alike."
    )


def wrapped(text: str) -> str:
    """Break a sentence at 80 columns."""
    return textwrap.fill(text, 80, subsequent_indent="  ")
