"""``dcnbio analyze responses``: electrophysiology of a network's units, and what interventions change in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.analysis_output import check_place, give_result
from dcnbio.commands.intervention_option import check_intervention, intervened
from dcnbio.commands.measure_plan import check_seed
from dcnbio.commands.measured_growth import growth_of, record_fields_in_time
from dcnbio.commands.measured_units import SIZES, MeasurePlan, measure_network, measures_of, plan_of, record_network
from dcnbio.commands.named_checkpoints import short_name
from dcnbio.commands.options import PRINTED, Model, Where, block_list
from dcnbio.commands.output import tell
from dcnbio.commands.responses_report import report
from dcnbio.errors import InputError
from dcnbio.probe.class_labels import with_labels_of

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

    from dcnbio.analysis.responses.result import ResponsesResult
    from dcnbio.model.network import Network

__all__ = ["responses"]


@dataclass(frozen=True)
class HowMuch:
    """How much is shown, and of what."""

    size: Annotated[str, Parameter(help=f"How much is shown: {', '.join(SIZES)}.")] = "default"
    blocks: Annotated[str | None, Parameter(help="Blocks to record from, e.g. 1,2,3. [default: 1]")] = None
    untrained: Annotated[bool, Parameter(help="Measure an untrained network of the same row beside it.")] = True
    growth: Annotated[bool, Parameter(help="Measure local fields of a few units over time in all blocks.")] = True
    units: Annotated[
        int | None, Parameter(help="At most so many units of each block, spread over its channels. [default: all]")
    ] = None
    signal: Annotated[
        str, Parameter(help="What is read of a unit: z, as the next layer reads it, or h_change, h(t) - h(0).")
    ] = "z"
    intervention: Annotated[
        tuple[str, ...],
        Parameter(help="sigma=1.5, time=0, norm=20 or orders=1; may be repeated.", negative=()),
    ] = ()
    limit: Annotated[int, Parameter(help="Images that accuracy under interventions is measured on.")] = 100
    seed: Annotated[int, Parameter(help="Of noise, resampling and the untrained network.")] = 0


DEFAULT = HowMuch()
SIGNALS = ("z", "h_change")


def responses(
    checkpoint: Annotated[str, Parameter(help="A shipped name or a file.")] = "dcn-ode",
    *,
    model: Model = None,
    how_much: Annotated[HowMuch, Parameter(name="*")] = DEFAULT,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Analyse responses: tuning, size, contrast, timing and receptive fields of units, as of neurons."""
    from dcnbio.analysis.responses.result import analyze_responses

    check_place(where)
    found = analyze_responses(measured(checkpoint, model, how_much), how_much.seed)
    give_result("responses", found, as_json(found), report(found), where)
    return 0


def chosen_plan(how_much: HowMuch) -> MeasurePlan:
    """Read the options that say how much is measured, and refuse wrong ones before anything is run."""
    plan = plan_of(how_much.size)
    check_seed(how_much.seed)
    blocks = block_list(how_much.blocks)
    if blocks is not None:
        plan = replace(plan, blocks=tuple(blocks))
    if how_much.units is not None:
        if how_much.units < 1:
            raise InputError(f"--units is {how_much.units}; at least 1 unit of each block is needed.")
        plan = replace(plan, units=how_much.units)
    if how_much.signal not in SIGNALS:
        raise InputError(f"--signal is {how_much.signal!r}; a unit is read by {' or '.join(SIGNALS)}.")
    plan = replace(plan, signal=how_much.signal)
    if how_much.limit < 1:
        raise InputError(f"--limit is {how_much.limit}; at least 1 image is needed.")
    for text in how_much.intervention:
        check_intervention(text)
    return plan


def is_trained(checkpoint: str) -> bool:
    """Say whether a checkpoint has been trained, by its header where it has one."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.loading import find_checkpoint

    path = find_checkpoint(checkpoint)
    return path.suffix != ".safetensors" or read_header(path).metrics.get("passes", 1) != 0


def measured(checkpoint: str, model: str | None, how_much: HowMuch) -> ResponsesResult:
    """Measure the network, its untrained twin, and its changed copies."""
    from dcnbio.analysis.responses.result import ResponsesResult
    from dcnbio.model.loading import load
    from dcnbio.model.network import build

    plan, seed = chosen_plan(how_much), how_much.seed
    net, name = load(checkpoint, model), short_name(checkpoint)
    if how_much.intervention:
        refuse_early(net, how_much)
    options: dict[str, Any] = {"seed": seed, "progress": sys.stderr.isatty()}
    tell(f"{name}: block {', '.join(map(str, plan.blocks))}")
    recordings = record_network(net, plan, **options)
    measures = measures_of(net, recordings, plan, seed=seed, name=name, trained=is_trained(checkpoint))
    curves = {"gratings": recordings.gratings}
    twin, untrained = None, None
    if how_much.untrained:
        tell(f"untrained {net.spec.row}, seed {seed}")
        twin = build(net.spec, seed=seed)
        untrained = measure_network(twin, plan, name="untrained", trained=False, **options)
    growth = None
    if how_much.growth:
        tell("local fields over time")
        fields = record_fields_in_time(net, **options)
        growth, curves["fields"] = growth_of(net, fields), all_units(fields)
    found = ResponsesResult(measures, untrained, growth, curves=curves)
    if how_much.intervention:
        changed, right = under_interventions(net, how_much, (name, is_trained(checkpoint)), options)
        found = replace(found, changed=changed, right=right)
    if how_much.intervention and twin is not None:
        changed, right = under_interventions(twin, how_much, ("untrained", False), options)
        found = replace(found, changed_untrained=changed, right_untrained=right)
    return found


def refuse_early(net: Network, how_much: HowMuch) -> None:
    """Refuse before the long part what could not be measured after it: images that are not there, endless scales."""
    import torch

    from dcnbio.images import load_images

    with_labels_of(net, load_images(limit=how_much.limit))
    blank = torch.full((1, 3, 32, 32), 0.5).to(next(net.readout.parameters()))
    for text in how_much.intervention:
        with torch.no_grad():
            intervened(net, text)(blank)


def all_units(fields: dict[int, xr.Dataset]) -> xr.Dataset:
    """Join the fields of all blocks, which figures are made from."""
    import xarray as xr

    return xr.concat(list(fields.values()), "unit", data_vars="minimal", coords="minimal", compat="override")


def under_interventions(
    net: Network, how_much: HowMuch, known: tuple[str, bool], options: dict[str, Any]
) -> tuple[dict[str, xr.Dataset], dict[str, NDArray[np.bool_]]]:
    """Measure a network's changed copies, and which shipped images they name right; `known`: name and trained."""
    name, trained = known
    changed = {text: intervened(net, text) for text in how_much.intervention}
    light, tables = replace(chosen_plan(how_much), reference=0, noise=0), {}
    for text, other in changed.items():
        tell(f"{name}, {text}")
        tables[text] = measure_network(other, light, name=f"{name}, {text}", trained=trained, **options)
    return tables, named_right(net, changed, how_much.limit)


def named_right(net: Network, changed: dict[str, Network], limit: int) -> dict[str, NDArray[np.bool_]]:
    """Say which of the same shipped images are named right with and without each intervention."""
    from dcnbio.images import load_images
    from dcnbio.probe.accuracy import evaluate

    images, found = with_labels_of(net, load_images(limit=limit)), {}
    for name, one in {"none": net, **changed}.items():
        tell(f"accuracy, {name}")
        found[name] = evaluate(one, images, batch_size=20).named_right
    return found


def as_json(found: ResponsesResult) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "responses",
        "network": found.measures.attrs["network"],
        "row": found.measures.attrs["row"],
        "weights": found.measures.attrs["weights"],
        "settings": found.measures.attrs["settings"],
        "units": plain_units(found.measures),
        "units_in_time": plain_in_time(found.measures),
        "untrained_units": None if found.untrained is None else plain_units(found.untrained),
        "predictions": found.predictions(),
        "accuracy": found.accuracy,
        "accuracy_untrained": found.accuracy_untrained,
        "interventions": [one.to_dict() for one in found.changes],
        "claims": [claim.to_dict() for claim in found.claims],
        "conclusion": found.conclusion,
    }


def plain_in_time(measures: xr.Dataset) -> dict[str, list[Any]]:
    """Give every measure of every unit at several times over T, a list of units for each."""
    found: dict[str, list[Any]] = {"time": measures["time"].values.tolist()}
    for name, values in measures.data_vars.items():
        if values.dims == ("time", "unit"):
            found[str(name)] = [[rounded(value) for value in row] for row in values.values.tolist()]
    return found


def rounded(value: Any) -> Any:
    """Round a number to what can be told apart."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def plain_units(measures: xr.Dataset) -> dict[str, list[Any]]:
    """Give every measure of every unit, rounded to what can be told apart."""
    found: dict[str, list[Any]] = {}
    for name, values in {**measures.coords, **measures.data_vars}.items():
        if values.dims != ("unit",):
            continue
        found[str(name)] = [rounded(value) for value in values.values.tolist()]
    return found
