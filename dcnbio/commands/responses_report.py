"""Lays out what ``dcnbio analyze responses`` found, within 80 columns."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.claims import PLAIN
from dcnbio.analysis.responses.definitions import DEFINITIONS
from dcnbio.analysis.responses.medians import UnitMedian, unit_median
from dcnbio.analysis.statistics.open_ends import OPEN
from dcnbio.commands.change_report import change_tables
from dcnbio.commands.table import WIDTH, marked, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import xarray as xr

    from dcnbio.analysis.claim import Claim
    from dcnbio.analysis.responses.beyond import Beyond
    from dcnbio.analysis.responses.result import ResponsesResult

__all__ = ["report"]

ZERO = 1e-9  # what is smaller is rounding
UNTRAINED = "the same network untrained"
PREDICTED = ("contrast-time law", "made by the norms")
CHANGE = ": change of "
READ = {
    "z": "r = max(0, z(T) - z_blank(T)), z = activation(norm(h)) as the next layer reads it",
    "h_change": "r = max(0, d(T) - d_blank(T)), d = h(t) - h(0), the second measure",
}
LIMITS = (
    "Units of one network are no sample of networks: with one training seed, all this is said of this network. One "
    "unit is measured per channel, since other positions share its weights, and 32 channels cannot show likeness to "
    "another distribution within 25 %. "
    "The stimulus is the state at t = 0, so there is no duration, onset or steady state."
)


def report(found: ResponsesResult) -> str:
    """Lay out tables and sentences."""
    attrs, n = found.measures.attrs, found.measures.sizes["unit"]
    parts = [wrapped(f"{attrs['network']} ({attrs['row']}), {n} units, medians; {READ[attrs['signal']]}")]
    parts += median_tables(found.claims)
    parts += limit_lines(found.measures, found.claims)
    for block, results in found.beyond.items():
        if results:
            parts.append(beyond_table(block, results))
    if found.growth is not None:
        parts.append(growth_table(found.growth))
    parts += change_tables(found.changes)
    parts.append("\n".join(wrapped(claim.conclusion) for claim in found.claims if is_said(claim)))
    parts += [definitions(found.measures), wrapped(solved(attrs) + LIMITS), wrapped(f"Conclusion: {found.conclusion}")]
    return "\n\n".join(parts)


def solved(attrs: Mapping[str, Any]) -> str:
    """Say how exactly units were recorded, where the measurement says it.

    Examples
    --------
    >>> solved({"settings": '{"tolerance": null}'})
    "Solved to the network's own tolerance. "
    """
    settings = json.loads(attrs.get("settings", "{}"))
    if "tolerance" not in settings:
        return ""
    if settings["tolerance"] is None:
        return "Solved to the network's own tolerance. "
    return (
        f"Stimuli are solved to a tolerance of {settings['tolerance']:g}, the blank in float64 to 1e-9, its start to "
        "1e-14: norms divide by contrast and multiply the error where there is little. "
    )


def definitions(measures: xr.Dataset) -> str:
    """Say how what was measured is defined."""
    said = [f"{name.replace('_', ' ')}: {text}" for name, text in DEFINITIONS.items() if name in measures]
    return "\n".join(["definitions", *(wrapped(f"- {one}") for one in said)])


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
    return [f"{block}\n{table(header, narrowed(header, rows))}".strip() for block, rows in tables.items()]


def narrowed(header: list[str], rows: list[list[str]]) -> list[list[str]]:
    """Cut names to the room that the other columns leave."""
    others = [max(len(line[i]) for line in [header, *rows]) + 2 for i in range(1, len(header))]
    room = WIDTH - sum(others)
    return [[textwrap.shorten(name, room, placeholder="..."), *cells] for name, *cells in rows]


def limit_lines(measures: xr.Dataset, claims: Sequence[Claim]) -> list[str]:
    """Say of which measures something is not known of some unit, and between which ends that leaves the median.

    Where an end of its 95 % interval is not known either, the other end is named.
    """
    parts, blocks = [], by_block(measures)
    reasons = {claim.name: claim.interval.reason for claim in claims if OPEN in claim.interval.reason}
    for block, units in blocks.items():
        prefix = f"block {block}: " if len(blocks) > 1 else ""
        medians = {name: unit_median(units, name, np.random.default_rng(0)) for name in PLAIN if name in units}
        lines = []
        for name, one in medians.items():
            reason = reasons.get(f"{prefix}{PLAIN[name]}, median")
            more = f"; of the 95 % interval, {reason}" if reason else ""
            if one.uncertain:
                lines.append(wrapped(f"{PLAIN[name]}: {one.caveat}{more}"))
        if lines:
            parts.append("\n".join([f"block {block}, what is not known of some units", *lines]))
    return parts


def row(claim: Claim, name: str) -> list[str]:
    """Lay out one median."""
    interval = claim.interval.to_list()
    limits = f"{interval[0]:.3g} to {interval[1]:.3g}" if interval else "-"
    control = claim.control
    medians = [marked(number(one.estimate), one.limit) for one in (claim, control)]
    return [name.removesuffix(", median"), str(claim.n), medians[0], limits, medians[1]]


def number(value: float, digits: int = 3) -> str:
    """Write a number, or a dash where it is not known.

    Examples
    --------
    >>> number(0.1234, 2), number(float("nan")), number(-1e-16, 2)
    ('0.12', '-', '0')
    """
    return "-" if value != value else f"{0.0 if abs(value) < ZERO else value:.{digits}g}"


def compact(value: float) -> str:
    """Write a number in 6 letters.

    Examples
    --------
    >>> compact(-0.5678), compact(-0.001234), compact(123.4)
    ('-0.57', '-0.001', '1e+02')
    """
    text = number(value, 2)
    return text if len(text) <= 6 else number(value, 1)


def beyond_table(block: int, results: Sequence[Beyond]) -> str:
    """Lay out results beside their predictions, and what is left beside that of the untrained network."""
    rows = []
    for one in results:
        limits = one.interval.to_list()
        clear = limits is not None and (limits[0] > 0 or limits[1] < 0)
        more = "-" if limits is None else compact(one.remains) + "*" * clear
        twin = "-" if one.untrained_left is None else median_cell(one.untrained_left)
        medians = [median_cell(found) for found in (one.measured, one.predicted, one.frozen, one.left)]
        rows.append([one.short, one.by, str(one.measured.n), *medians, twin, more])
    header = ["result", "by", "n", "is", "pred.", "frozen", "left", "untr.", "more"]
    about = (
        f"block {block}: what the contrast-time law or the norms predict (pred.), the value with frozen norm "
        "statistics, what is left (octaves of a law's, or the frozen value), the same untrained, and trained minus "
        "untrained (* its 95 % interval over units leaves out 0; - fewer than 6 units, a median is a limit, or an end "
        "of the interval lies beyond all that is known); c/4: a quarter of the contrast"
    )
    return "\n".join([wrapped(about), table(header, rows), *limits_of_results(results)])


def median_cell(found: UnitMedian) -> str:
    """Write a median in 6 letters, or 7 where it is a limit."""
    return marked(compact(found.value), found.beyond)


def limits_of_results(results: Sequence[Beyond]) -> list[str]:
    """Say of which results how many units are limits alone, and where the median is one."""
    counted = [
        f"{one.short} {one.measured.censored} of {one.measured.n}"
        + (f" (median {one.measured})" if one.measured.beyond else "")
        for one in results
        if one.measured.censored
    ]
    return [wrapped(f"limits alone, taken as such in the medians: {'; '.join(counted)}")] if counted else []


def growth_table(growth: xr.Dataset) -> str:
    """Lay out the local field's sigma against time and block."""
    rows = []
    for i, block in enumerate(growth["block"].values.tolist()):
        limits = growth["limit"].values[i].astype(int).tolist()
        sigma = [marked(f"{value:.2f}", at) for value, at in zip(growth["sigma"].values[i], limits, strict=True)]
        clipped = "/".join(str(int(count)) for count in growth["clipped"].values[i])
        linear, kernel, passes = (f"{float(growth[name][i]):.2f}" for name in ("linear", "kernel_sigma", "passes"))
        # of two limits, at the start and at T, no growth is known
        grown = "-" if limits[0] else marked(passes, limits[-1])
        rows.append(
            [str(block), str(int(growth["units"][i])), *sigma, clipped, marked(linear, limits[0]), kernel, grown]
        )
    times = [f"t = {share:g} T" for share in growth["time"].values]
    about = (
        "local field, sigma in pixels (second moments, median over units); clipped: units whose field leaves the image "
        "at each time (limits); linear: if the variances of one pass add; kernel: sigma of the block's kernels; "
        "passes: growth in variance over that of one pass"
    )
    header = ["block", "units", *times, "clipped", "linear", "kernel", "passes"]
    return wrapped(about) + "\n" + table(header, rows)
