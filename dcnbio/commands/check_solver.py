"""``dcnbio check-solver``: whether what is seen in a network moves with the solver it is seen through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.images import ImageOptions, open_images
from dcnbio.commands.network import open_network
from dcnbio.commands.options import HOW, WHAT, WHERE, Checkpoint, IntegrationTime, Json, Model, number
from dcnbio.commands.output import Speaker
from dcnbio.commands.table import table, wrapped

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["check_solver"]

IMAGES = 40
DEFAULT = "dopri5 0.001"
ROUGH = 0.05  # relative change that is called a change of the conclusion


@Parameter(name="*", group=HOW)
@dataclass(frozen=True)
class Checked:
    """What is compared."""

    tolerances: Annotated[str, Parameter(help="Of dopri5, between commas; float64 from 1e-5 down.")] = (
        "1e-2,1e-3,1e-4,1e-5,1e-6,1e-7"
    )
    mask: Annotated[int, Parameter(help="Side of the central mask of which D(T) is compared, pixels.")] = 14
    stepping: Annotated[str, Parameter(help="per-image or shared.")] = "per-image"
    device: Annotated[str, Parameter(help="cpu or cuda.")] = "cpu"


SHIPPED, ALL = ImageOptions(), Checked()


def check_solver(
    *,
    checkpoint: Annotated[Checkpoint, Parameter(group=WHAT)] = "dcn-ode",
    model: Annotated[Model, Parameter(group=WHAT)] = None,
    integration_time: Annotated[IntegrationTime, Parameter(group=WHAT)] = None,
    image_options: ImageOptions = SHIPPED,
    checked: Checked = ALL,
    json_: Annotated[Json, Parameter(group=WHERE)] = False,
) -> int:
    """Compare accuracy, logits, D(T) and NFE over tolerances and solvers, and warn where conclusions move.

    Without options: the shipped dcn-ode on 40 of the shipped images. The reference is dopri5 at the tightest tolerance.
    """
    from dcnbio.probe.solver_check import check_solver as check

    speaker = Speaker(json_)
    tolerances = [number(part, "--tolerances") for part in checked.tolerances.split(",")]
    opened = open_network(checkpoint, model, integration_time)
    data = open_images(image_options, most=IMAGES)
    speaker.say(f"network   {checkpoint}: {opened}")
    speaker.say(f"images    {data.sizes['stimulus']} of {data.attrs['source']}")
    for notice in opened.notices:
        speaker.note(notice)
    settings: dict[str, Any] = {"mask": checked.mask, "stepping": checked.stepping, "device": checked.device}
    found = check(opened.net, data, tolerances, progress=speaker.shows_progress, **settings)
    warnings = warnings_of(found)
    speaker.give(as_json(found, checkpoint, warnings), report(found, warnings))
    return 0


def rows_of(found: xr.Dataset) -> list[dict[str, Any]]:
    """Give each solver's figures as plain values."""
    names = ["solver", "method", "tolerance", "steps", "dtype", *map(str, found.data_vars)]
    return [{name: found[name].values[i].tolist() for name in names} for i in range(found.sizes["solver"])]


def warnings_of(found: xr.Dataset) -> list[str]:
    """Say where a conclusion moves: of the default solver in words, of the others by name."""
    said = []
    for row in rows_of(found):
        reasons = []
        if row["changed_answers"]:
            reasons.append(f"{row['changed_answers']} of {found.attrs['n']} answers change")
        worst = max(map(abs, row["d_change"]))
        if worst > ROUGH:
            reasons.append(f"D(T) changes by up to {100 * worst:.0f} %")
        if row["unsolved"]:
            reasons.append(f"{row['unsolved']} images are not solved")
        if reasons:
            default = " (the default of a probe)" if row["solver"] == DEFAULT else ""
            said.append(f"{row['solver']}{default}: {', '.join(reasons)} against {found.attrs['reference']}")
    return said


def as_json(found: xr.Dataset, checkpoint: str, warnings: list[str]) -> dict[str, Any]:
    """Give plain values."""
    about = {name: found.attrs[name] for name in ("n", "reference", "mask", "stepping", "images", "weights")}
    return {"checkpoint": checkpoint, **about, "solvers": rows_of(found), "warnings": warnings}


def report(found: xr.Dataset, warnings: list[str]) -> str:
    """Lay out what a person sees."""
    header = ["solver", "type", "acc %", "other", "logits %", "median", "h(T) %", "D(T) %", "NFE"]
    lines = []
    for row in rows_of(found):
        accuracy = row["accuracy"]
        lines.append(
            [
                row["solver"],
                row["dtype"].removeprefix("float"),
                "-" if accuracy != accuracy else f"{100 * accuracy:.1f}",
                row["changed_answers"],
                f"{100 * row['logits_largest']:.2g}",
                f"{100 * row['logits_median']:.2g}",
                f"{100 * max(row['end_change']):.2g}",
                f"{100 * max(row['d_change'], key=abs):+.2g}",
                "+".join(f"{value:.0f}" for value in row["nfe"]),
            ]
        )
    n, reference = found.attrs["n"], found.attrs["reference"]
    close = [
        f"Against {reference}, n = {n} images. other: images classified otherwise; logits: largest change, and its "
        "median over images, of the largest logit; h(T), D(T): change in the block where it is largest.",
        *(f"warning: {sentence}" for sentence in warnings),
    ]
    if not warnings:
        close.append("No conclusion moves: no answer changes and D(T) stays within 5 % with any of these solvers.")
    return "\n".join([table(header, lines), *(wrapped(text) for text in close)])
