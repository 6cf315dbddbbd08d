"""``dcnbio evaluate``: accuracy of a checkpoint with its interval, per class, and the work it took."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.options import Checkpoint, Images, IntegrationTime, Json, Model, integration_time
from dcnbio.commands.probe import How
from dcnbio.commands.table import table

__all__ = ["evaluate"]

SHARED = How(stepping="shared")


def evaluate(
    *,
    checkpoint: Checkpoint = "dcn-ode",
    images: Images = None,
    limit: Annotated[int | None, Parameter(help="Images, spread evenly over the classes; all if left out.")] = None,
    model: Model = None,
    integration_time_: Annotated[IntegrationTime, Parameter(name="--integration-time")] = None,
    resize: Annotated[bool, Parameter(negative=())] = False,
    how: Annotated[How, Parameter(name="*")] = SHARED,
    json_: Json = False,
) -> int:
    """Measure a network's accuracy on labelled images: interval, classes, confusion, function evaluations."""
    import dcnbio

    net = dcnbio.load(checkpoint, model, **integration_time(integration_time_))
    data = dcnbio.load_images(images, limit=limit, resize=resize)
    found = dcnbio.evaluate(net, data, progress=not json_, **vars(how)).to_dict()
    found["checkpoint"], found["images"] = checkpoint, data.attrs["source"]
    print(json.dumps(found) if json_ else report(found))
    return 3 if found["failed"] else 0


def report(found: dict[str, Any]) -> str:
    """Lay out what a person sees."""
    names = list(found["per_class"])
    rows = [[name, f"{100 * found['per_class'][name]:.1f}", *found["confusion"][i]] for i, name in enumerate(names)]
    low, high = found["interval"]
    nfe = ", ".join(f"{value:.1f}" for value in found["nfe"])
    return "\n".join(
        [
            table(["label", "right %", *(name[:5] for name in names)], rows),
            f"accuracy {100 * found['accuracy']:.1f} % of {found['n']} images of {found['images']}"
            f" (95 % interval {100 * low:.1f} to {100 * high:.1f})",
            f"NFE per {found['nfe_per']} in each block: {nfe}",
        ]
    )
