"""``dcnbio evaluate``: accuracy of a checkpoint with its interval, per class, and the work it took."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.images import ImageOptions, open_images
from dcnbio.commands.intervention_option import Interventions
from dcnbio.commands.network import open_network
from dcnbio.commands.options import WHAT, WHERE, Checkpoint, IntegrationTime, Json, Model
from dcnbio.commands.output import Speaker, complain
from dcnbio.commands.probe_report import accuracy_line, failure_lines
from dcnbio.commands.solver_options import HowMeasured
from dcnbio.commands.table import table
from dcnbio.probe.class_labels import with_labels_of

__all__ = ["evaluate"]

SHARED = HowMeasured()
ALL_IMAGES = ImageOptions()
COLUMNS = 10  # classes whose confusion fits a terminal


def evaluate(
    *,
    checkpoint: Annotated[Checkpoint, Parameter(group=WHAT)] = "dcn-ode",
    model: Annotated[Model, Parameter(group=WHAT)] = None,
    integration_time: Annotated[IntegrationTime, Parameter(group=WHAT)] = None,
    intervention: Annotated[Interventions, Parameter(group=WHAT)] = (),
    image_options: ImageOptions = ALL_IMAGES,
    how: HowMeasured = SHARED,
    json_: Annotated[Json, Parameter(group=WHERE)] = False,
) -> int:
    """Measure a network's accuracy on labelled images: interval, classes, confusion, function evaluations.

    Without options: the shipped dcn-ode on all shipped images, with the paper's shared steps.
    """
    from dcnbio.probe import evaluate as measure

    speaker = Speaker(json_)
    opened = open_network(checkpoint, model, integration_time, intervention)
    data = with_labels_of(opened.net, open_images(image_options, most=None))
    speaker.say(f"network   {checkpoint}: {opened}")
    speaker.say(f"images    {data.sizes['stimulus']} of {data.attrs['source']}")
    notices = (*opened.notices, *json.loads(data.attrs["notices"]))
    for notice in notices:
        speaker.note(notice)
    found = measure(opened.net, data, progress=speaker.shows_progress, **vars(how)).to_dict()
    found |= {
        "checkpoint": checkpoint,
        "interventions": list(intervention),
        "images": data.attrs["source"],
        "notices": list(notices),
    }
    speaker.give(found, evaluate_report(found))
    for line in failure_lines(found["failed"]):
        complain(line)
    return 3 if found["failed"] else 0


def evaluate_report(found: dict[str, Any]) -> str:
    """Lay out what a person sees."""
    names = list(found["per_class"])
    fits = len(names) <= COLUMNS
    rows = []
    for i, name in enumerate(names):
        right = found["per_class"][name]
        counts = found["confusion"][i] if fits else []
        rows.append([name, "-" if right is None else f"{100 * right:.1f}", *counts])
    nfe = ", ".join("-" if value is None else f"{value:.1f}" for value in found["nfe"])
    return "\n".join(
        [
            table(["label", "% right", *(name[:4] for name in names if fits)], rows),
            accuracy_line(found["accuracy"], found["n"], len(found["failed"])),
            f"NFE       per {found['nfe_per']}, block by block: {nfe}",
        ]
    )
