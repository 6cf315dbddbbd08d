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
    measures, untrained = measured_pair(checkpoint, model, how_much)
    found = analyze_primate(measures, untrained, seed=how_much.seed, degrees_per_pixel=how_much.degrees_per_pixel)
    text = report(found)
    if where.out is not None:
        write_result(found.to_tree(), where.out, "primate", overwrite=where.overwrite)
        text += f"\n\nwritten to {where.out}"
    Speaker(where.json).give(as_json(found), text)
    return 0


def measured_pair(checkpoint: str, model: str | None, how_much: HowMuch) -> tuple[xr.Dataset, xr.Dataset | None]:
    """Measure the units of a network and of an untrained one of its kind."""
    from dcnbio.commands.analyze_responses import is_trained
    from dcnbio.errors import InputError
    from dcnbio.model.loading import load
    from dcnbio.model.network import build

    if how_much.degrees_per_pixel is not None and not how_much.degrees_per_pixel > 0:
        raise InputError(f"--degrees-per-pixel is {how_much.degrees_per_pixel}; it must be positive, such as 0.1.")
    plan, net, name = plan_of(how_much.size), load(checkpoint, model), Path(checkpoint).stem
    options: dict[str, Any] = {"seed": how_much.seed, "progress": sys.stderr.isatty()}
    print(f"{name}: units ...", file=sys.stderr, flush=True)
    measures = measure_network(net, plan, name=name, trained=is_trained(checkpoint), **options)
    if not how_much.untrained:
        return measures, None
    print(f"untrained {net.spec.row}: units ...", file=sys.stderr, flush=True)
    other = build(net.spec, seed=how_much.seed)
    return measures, measure_network(other, plan, name="untrained", trained=False, **options)


def as_json(found: PrimateResult) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "primate",
        "network": found.network,
        "weights": found.weights,
        "seed": found.seed,
        "comparisons": list(found.comparisons),
        "similarities": list(found.similarities),
        "conclusion": found.conclusion,
    }


def number(value: float | None) -> str:
    """Write a number, or a dash."""
    return "-" if value is None else f"{value:.2f}"


def report(found: PrimateResult) -> str:
    """Lay out what a person sees, within 80 columns."""
    rows = []
    for row in found.comparisons:
        interval = "-" if row["interval"] is None else " to ".join(number(limit) for limit in row["interval"])
        cells = "-" if row["n_data"] is None else row["n_data"]
        name = textwrap.shorten(row["name"].replace(", median", ""), 34, placeholder="...")
        rows.append([name, row["n_model"], cells, number(row["effect"]), interval, row["verdict"] or "-"])
    likeness = [
        [
            one["name"],
            one["measure"],
            f"{one['similarity']:.2f}",
            f"{one['ceiling']:.2f}",
            one["n_model"],
            one["n_data"],
        ]
        for one in found.similarities
    ]
    reasons = [f"{row['name']}: {row['reason']}" for row in found.comparisons if row["reason"]]
    return "\n\n".join(
        [
            f"{found.network} minus macaque V1; 95 % intervals over units and cells",
            table(["comparison", "units", "cells", "effect", "interval", "verdict"], rows),
            table(["similarity", "measure", "value", "ceiling", "units", "cells"], likeness),
            "\n".join(textwrap.fill(text, 80, subsequent_indent="  ") for text in reasons),
            textwrap.fill(f"Conclusion: {found.conclusion}", 80, subsequent_indent="  "),
        ]
    )
