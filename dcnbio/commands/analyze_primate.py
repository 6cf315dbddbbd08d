"""``dcnbio analyze primate``: a network's units beside published distributions of macaque V1."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.analysis_output import check_place, give_result
from dcnbio.commands.measure_plan import check_seed
from dcnbio.commands.measured_units import SIZES, measure_network, plan_of
from dcnbio.commands.named_checkpoints import short_name
from dcnbio.commands.options import PRINTED, Model, Where
from dcnbio.commands.output import tell
from dcnbio.commands.primate_report import report

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


DEFAULT = HowMuch()
ODE_NET, UNTRAINED = "ode-net", "untrained"


def primate(
    checkpoint: Annotated[str, Parameter(help="A shipped name or a file.")] = "dcn-ode",
    *,
    model: Model = None,
    how_much: Annotated[HowMuch, Parameter(name="*")] = DEFAULT,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Compare units with macaque V1: effect, interval, bound, verdict, and what is built in."""
    from dcnbio.analysis.primate import analyze_primate

    check_place(where)
    measured = measured_networks(checkpoint, model, how_much)
    found = analyze_primate(*measured, seed=how_much.seed, degrees_per_pixel=how_much.degrees_per_pixel)
    give_result("primate", found, as_json(found), report(found), where)
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

    degrees = how_much.degrees_per_pixel
    if degrees is not None and not (math.isfinite(degrees) and degrees > 0):
        raise InputError(f"--degrees-per-pixel is {degrees}; it must be positive and finite, such as 0.1.")
    check_seed(how_much.seed)
    # nothing published here is of plaids, of such surrounds or of fields by noise
    plan = replace(plan_of(how_much.size), mask_phases=0, noise=0)
    net, name = load(checkpoint, model), short_name(checkpoint)
    options: dict[str, Any] = {"seed": how_much.seed, "progress": sys.stderr.isatty()}
    tell(f"{name}: units")
    measures = measure_network(net, plan, name=name, trained=is_trained(checkpoint), **options)
    untrained = other = None
    if how_much.untrained:
        tell(f"untrained {net.spec.row}: units")
        built = build(net.spec, seed=how_much.seed)
        untrained = measure_network(built, plan, name=UNTRAINED, trained=False, **options)
    control = ode_net_control(net.spec.row)
    if control is None and net.spec.row != ODE_NET:
        print("no trained ode-net ships, so none is measured beside it", file=sys.stderr, flush=True)
    if control is not None:
        tell(f"{control}: units")
        other = measure_network(load(control), plan, name=control, trained=True, **options)
    return measures, untrained, other


def as_json(found: PrimateResult) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "primate",
        "network": found.network,
        "weights": found.weights,
        "seed": found.seed,
        "settings": json.loads(found.settings),
        "beside": found.beside,
        "beside_weights": found.beside_weights,
        "comparisons": list(found.comparisons),
        "similarities": list(found.similarities),
        "conclusion": found.conclusion,
    }
