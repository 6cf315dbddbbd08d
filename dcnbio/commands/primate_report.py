"""What ``dcnbio analyze primate`` prints: effects, what each is held to, and what stands beside it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from dcnbio.analysis.claim import word_mark
from dcnbio.commands.table import table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcnbio.analysis.primate import PrimateResult

__all__ = ["report"]

SHORT = (
    ("preferred spatial frequency", "best frequency"),
    ("spatial-frequency bandwidth", "octave bandwidth"),
    (" 100 f_low / f_high", ""),
    (" against log2 preferred frequency", ""),
    (" of the summation field at low contrast beyond the law's, against", ", vs"),
    ("share of fields that a Gabor function cannot fit", "share without Gabor"),
    ("slope of log2 linear bandwidth", "slope, bandwidth"),
    ("slope of octave bandwidth", "slope, octaves"),
    ("slope of log2(1/width)", "slope, 1 / width"),
    ("peak time at low contrast", "peak time, low / high"),
    ("surround / summation diameter", "surround / summation"),
    ("preferred-orientation histogram", "orientation"),
    ("size ratio of successive levels", "ratio of levels"),
    (" = sigma_x f of the field", ""),
    (" = sigma_y f of the field", ""),
    (" of the field", ""),
    (", median of log2(low / high)", ""),
    (" of log2", ""),
    (", median", ""),
)
BESIDE = (
    "the value itself, and by the contrast-time law from a lower contrast (law); N-jets by theory; with the norms' "
    "statistics held or frozen, in octaves (norm held)"
)

QUARTILES = (
    "distributions of units and of published cells: quartiles, limits as they stand, log2 where the unit is octaves "
    "(all values and bins are in --json)"
)


def number(value: float | None) -> str:
    """Write a number, or a dash."""
    return "-" if value is None else f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"


def marked_number(value: float | None, limit: str | None) -> str:
    """Write a number with the sign of a limit before it, "lower" or "upper"; or a dash.

    Examples
    --------
    >>> marked_number(1.234, "lower"), marked_number(1.234, None), marked_number(None, None)
    ('>1.23', '1.23', '-')
    """
    return f"{word_mark(limit)}{number(value)}"


def short(name: str) -> str:
    """Shorten a comparison's name to what a column holds; the full one stands with its reason."""
    for long, brief in SHORT:
        name = name.replace(long, brief)
    return textwrap.shorten(name, 23, placeholder=" ...")


def span(limits: list[float] | None) -> str:
    """Write an interval, or a dash."""
    return "-" if limits is None else " to ".join(number(limit) for limit in limits)


def effects(found: PrimateResult) -> str:
    """Lay out effects and verdicts, numbered."""
    rows = []
    for place, row in enumerate(found.comparisons, 1):
        cells = "-" if row["n_data"] is None else row["n_data"]
        verdict = row["verdict"] or "-"
        effect = marked_number(row["effect"], row.get("limit"))
        rows.append([place, short(row["name"]), row["n_model"], cells, effect, span(row["interval"]), verdict])
    return table(["#", "comparison", "n", "cells", "effect", "95 %", "verdict"], rows)


def held_to(found: PrimateResult) -> str:
    """Lay out what each verdict is held to: its bound, the adjusted interval, and the worst cases."""
    rows = [
        [place, number(row["bound"]), span(row["interval_90"]), span(row["interval_holm"]), span(row["worst_case"])]
        for place, row in enumerate(found.comparisons, 1)
        if row["bound"] is not None
    ]
    return table(["#", "bound", "90 % (like)", "Holm's 95 % (unlike)", "effect at worst"], rows)


def beside(found: PrimateResult) -> str:
    """Lay out the values of both, and what stands beside them."""
    rows = []
    for place, row in enumerate(found.comparisons, 1):
        if row["model"] is None:
            continue
        rows.append([place, marked_number(row["model"], row.get("limit")), number(row["data"]), *beside_cells(row)])
    header = ["#", "network", "macaque", "untrained", "ode-net", "N-jet 1", "N-jet 2", "law", "norm held"]
    return table(header, rows)


def beside_cells(row: Mapping[str, Any]) -> list[str]:
    """Write the values of other networks, and of theory, law and norms; limits marked."""
    controls, data = row["controls"], row["data"]

    def cell(name: str, added: float = 0.0) -> str:
        value = controls.get(name)
        return marked_number(None if value is None else value + added, controls.get(f"{name}_limit"))

    networks = ["-" if data is None else cell(f"{name}_effect", data) for name in ("untrained", "ode_net")]
    njets = [number(controls.get("njets", {}).get(f"order {order}")) for order in (1, 2)]
    held = "octaves_with_norm_statistics_held"
    return [*networks, *njets, cell("by_law"), cell(held if held in controls else "with_norm_statistics_frozen")]


def distributions(found: PrimateResult) -> str:
    """Lay out quartiles of the network's units and of the published cells, where these have a histogram."""
    import numpy as np

    from dcnbio.analysis.primate.distributions import quartiles

    rows = []
    for place, row in enumerate(found.comparisons, 1):
        both = row.get("distribution")
        if both is None or both["published"] is None or not both["values"]:
            continue
        own, cells = quartiles(np.array(both["values"])), both["published"]["quartiles"]
        rows.append([place, row["unit"], *(" / ".join(map(number, one)) for one in (own, cells))])
    return table(["#", "unit", "network, quartiles", "macaque, quartiles"], rows)


def likeness(found: PrimateResult) -> str:
    """Lay out binned similarities."""
    rows = [
        [one["name"], one["measure"], number(one["similarity"]), number(one["ceiling"]), one["n_model"], one["n_data"]]
        for one in found.similarities
    ]
    return table(["similarity", "measure", "value", "ceiling", "units", "cells"], rows)


def report(found: PrimateResult) -> str:
    """Lay out what a person sees, within 80 columns."""
    reasons = [f"{place} {row['name']}: {row['reason']}" for place, row in enumerate(found.comparisons, 1)]
    return "\n\n".join(
        [
            wrapped(f"{found.network} minus macaque V1; 95 % intervals over units and cells"),
            effects(found),
            held_to(found),
            f"{wrapped(BESIDE)}\n{wrapped(f'beside it: {found.beside}')}\n{beside(found)}",
            f"{wrapped(QUARTILES)}\n{distributions(found)}",
            likeness(found),
            "\n".join(wrapped(text) for text in reasons),
            wrapped(f"Conclusion: {found.conclusion}"),
        ]
    )
