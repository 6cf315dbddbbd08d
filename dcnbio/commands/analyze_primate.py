"""``dcnbio analyze primate``: a network's units beside published distributions of macaque V1."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.measured_units import SIZES, measure_network, plan_of
from dcnbio.commands.options import Json, Model
from dcnbio.commands.output import Speaker
from dcnbio.commands.table import table

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.primate import PrimateResult

__all__ = ["primate"]


@dataclass(frozen=True)
class HowMuch:
    """How much is shown to the network, and what is declared."""

    size: Annotated[str, Parameter(help=f"How much is shown: {', '.join(SIZES)}.")] = "default"
    degrees_per_pixel: Annotated[
        float | None, Parameter(help="Degrees of visual angle of a pixel; a DCN has none unless you declare it.")
    ] = None
    untrained: Annotated[bool, Parameter(help="Measure an untrained network of the same row beside it.")] = True
    seed: Annotated[int, Parameter(help="Of noise, resampling and the untrained network.")] = 0


@dataclass(frozen=True)
class Where:
    """Where results go."""

    out: Annotated[Path | None, Parameter(help="A .nc file for the comparisons.")] = None
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace a result that is there.")] = False
    json: Json = False


DEFAULT, PRINTED = HowMuch(), Where()
ODE_NET = "ode-net"
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
BESIDE = "the value itself; N-jets by theory; with the norms' statistics held, in octaves"


def primate(
    checkpoint: Annotated[str, Parameter(help="A shipped name or a file.")] = "dcn-ode",
    *,
    model: Model = None,
    how_much: Annotated[HowMuch, Parameter(name="*")] = DEFAULT,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Compare units with macaque V1: effect, interval, bound, verdict, and what is built in."""
    from dcnbio.analysis.primate import analyze_primate
    from dcnbio.analysis.result_file import check_result_path, write_result

    if where.out is not None:
        check_result_path(where.out, overwrite=where.overwrite)
    measured = measured_networks(checkpoint, model, how_much)
    found = analyze_primate(*measured, seed=how_much.seed, degrees_per_pixel=how_much.degrees_per_pixel)
    text = report(found)
    if where.out is not None:
        write_result(found.to_tree(), where.out, "primate", overwrite=where.overwrite)
        text += f"\n\nwritten to {where.out}"
    Speaker(where.json).give(as_json(found), text)
    return 0


def ode_net_control(row: str) -> str | None:
    """Name the trained ode-net that stands beside a network, where one ships and the network is none itself."""
    from dcnbio.model.loading import shipped_checkpoints

    return ODE_NET if row != ODE_NET and ODE_NET in shipped_checkpoints() else None


def measured_networks(
    checkpoint: str, model: str | None, how_much: HowMuch
) -> tuple[xr.Dataset, xr.Dataset | None, xr.Dataset | None]:
    """Measure the units of a network, of an untrained one of its kind, and of a trained ode-net where one ships."""
    from dcnbio.commands.analyze_responses import is_trained
    from dcnbio.errors import InputError
    from dcnbio.model.loading import load
    from dcnbio.model.network import build

    if how_much.degrees_per_pixel is not None and not how_much.degrees_per_pixel > 0:
        raise InputError(f"--degrees-per-pixel is {how_much.degrees_per_pixel}; it must be positive, such as 0.1.")
    plan, net, name = plan_of(how_much.size), load(checkpoint, model), Path(checkpoint).stem
    options: dict[str, Any] = {"seed": how_much.seed, "progress": sys.stderr.isatty()}
    told(f"{name}: units ...")
    measures = measure_network(net, plan, name=name, trained=is_trained(checkpoint), **options)
    untrained = other = None
    if how_much.untrained:
        told(f"untrained {net.spec.row}: units ...")
        built = build(net.spec, seed=how_much.seed)
        untrained = measure_network(built, plan, name="untrained", trained=False, **options)
    control = ode_net_control(net.spec.row)
    if control is None and net.spec.row != ODE_NET:
        told("no trained ode-net ships, so none is measured beside it")
    if control is not None:
        told(f"{control}: units ...")
        other = measure_network(load(control), plan, name=control, trained=True, **options)
    return measures, untrained, other


def told(text: str) -> None:
    """Tell what is being done."""
    print(text, file=sys.stderr, flush=True)


def as_json(found: PrimateResult) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "primate",
        "network": found.network,
        "weights": found.weights,
        "seed": found.seed,
        "beside": found.beside,
        "comparisons": list(found.comparisons),
        "similarities": list(found.similarities),
        "conclusion": found.conclusion,
    }


def number(value: float | None) -> str:
    """Write a number, or a dash."""
    return "-" if value is None else f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"


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
        rows.append(
            [place, short(row["name"]), row["n_model"], cells, number(row["effect"]), span(row["interval"]), verdict]
        )
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
        controls, data = row["controls"], row["data"]
        others = [controls.get(f"{name}_effect") for name in ("untrained", "ode_net")]
        values = [None if one is None or data is None else one + data for one in others]
        njets = [controls.get("njets", {}).get(f"order {order}") for order in (1, 2)]
        held = controls.get("octaves_with_norm_statistics_held")
        rows.append([place, *(number(one) for one in (row["model"], data, *values, *njets, held))])
    header = ["#", "network", "macaque", "untrained", "ode-net", "N-jet 1", "N-jet 2", "norm held"]
    return table(header, rows)


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
            f"{found.network} minus macaque V1; 95 % intervals over units and cells",
            effects(found),
            held_to(found),
            f"{BESIDE}\nbeside it: {found.beside}\n{beside(found)}",
            likeness(found),
            "\n".join(textwrap.fill(text, 80, subsequent_indent="  ") for text in reasons),
            textwrap.fill(f"Conclusion: {found.conclusion}", 80, subsequent_indent="  "),
        ]
    )
