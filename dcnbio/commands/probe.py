"""``dcnbio probe``: record h(t) of a checkpoint's blocks on images."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from dcnbio.commands.options import (
    Blocks,
    Checkpoint,
    Images,
    IntegrationTime,
    Json,
    Model,
    Times,
    integration_time,
    number_list,
    times_option,
)
from dcnbio.commands.table import table
from dcnbio.errors import InputError

__all__ = ["probe"]

DEFAULT_LIMIT = 100
LARGE = 4e9  # bytes; above this a recording needs --yes


@dataclass(frozen=True)
class What:
    """What is recorded."""

    checkpoint: Checkpoint = "dcn-ode"
    model: Model = None
    images: Images = None
    limit: Annotated[
        int | None, Parameter(help="Images, spread evenly over the classes; left out: 100, or all if there are fewer.")
    ] = None
    resize: Annotated[bool, Parameter(negative=(), help="Cut and resize images that are not 32 x 32.")] = False
    split: Annotated[Literal["train", "test"], Parameter(help="Where the images have both.")] = "test"
    times: Times = "21"
    blocks: Blocks = None
    mask: Annotated[int | None, Parameter(help="Side in pixels of a central square of zeros.")] = None
    contrast: Annotated[float, Parameter(help="The images are multiplied by it.")] = 1.0
    integration_time: IntegrationTime = None


@dataclass(frozen=True)
class How:
    """How it is solved."""

    stepping: Annotated[str, Parameter(help="per-image or shared.")] = "per-image"
    batch_size: Annotated[int, Parameter(help="Images solved together.")] = 100
    rtol: Annotated[float, Parameter(help="Relative tolerance.")] = 1e-3
    atol: Annotated[float, Parameter(help="Absolute tolerance.")] = 1e-3
    method: Annotated[str, Parameter(help="dopri5, or another method of torchdiffeq.")] = "dopri5"
    step_size: Annotated[float | None, Parameter(help="Step of a fixed-step method.")] = None
    max_steps: Annotated[int, Parameter(help="Attempted steps before an image is given up.")] = 2000
    max_evaluations: Annotated[int | None, Parameter(help="Evaluations before an image is given up.")] = None
    dtype: Annotated[str, Parameter(help="float32 or float64.")] = "float32"
    device: Annotated[str, Parameter(help="cpu or cuda.")] = "cpu"


@dataclass(frozen=True)
class Where:
    """Where it goes."""

    out: Annotated[Path | None, Parameter(help="A .zarr store or .nc file; else CHECKPOINT.zarr here.")] = None
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace a recording that is there.")] = False
    resume: Annotated[bool, Parameter(negative=(), help="Go on with an unfinished recording.")] = False
    yes: Annotated[bool, Parameter(negative=(), help="Write more than 4 GB without asking.")] = False
    json: Json = False


def settings_of(what: What, how: How) -> dict[str, Any]:
    """Gather the fields of ProbeSettings."""
    return {
        **vars(how),
        "times": times_option(what.times),
        "blocks": None if what.blocks is None else [int(b) for b in number_list(what.blocks, "--blocks")],
        "mask": what.mask,
        "contrast": what.contrast,
    }


def summary(tree: Any, path: Path) -> dict[str, Any]:
    """Sum a recording up."""
    import numpy as np

    from dcnbio.recording import describe

    blocks = {}
    for name, node in tree.children.items():
        nfe = node["nfe"].values
        blocks[name] = {
            "shape": [int(node.sizes[d]) for d in ("time", "channel", "y", "x")],
            "nfe_mean": float(nfe.mean()),
            "nfe_range": [int(nfe.min()), int(nfe.max())],
            "accepted": float(node["accepted"].values.mean()),
            "rejected": float(node["rejected"].values.mean()),
        }
    status = np.stack([node["status"].values for node in tree.children.values()])
    failed = (status != 0).any(0)
    label, known = tree["label"].values, (tree["label"].values >= 0).all()
    right = int((tree["logits"].values.argmax(1)[~failed] == label[~failed]).sum())
    return {
        "file": str(path),
        "bytes": describe(path)["bytes"],
        "images": len(label),
        "failed": [int(s) for s in tree["stimulus"].values[failed]],
        "accuracy": right / len(label) if known else None,
        "blocks": blocks,
    }


def reasons(tree: Any) -> list[str]:
    """Name every image that failed, and why."""
    lines: list[str] = []
    for node in tree.children.values():
        for i in (node["status"].values != 0).nonzero()[0]:
            why = str(node["reason"].values[i]) if "reason" in node else str(int(node["status"].values[i]))
            lines.append(f"stimulus {int(tree['stimulus'].values[i])} ({tree['file'].values[i]}): {why}")
    return lines


def report(found: dict[str, Any], shared: bool) -> str:
    """Lay out the table a person sees."""
    from dcnbio.probe.evaluate import accuracy_interval
    from dcnbio.recording import human_bytes

    rows = [
        [
            name,
            " x ".join(map(str, block["shape"])),
            f"{block['nfe_mean']:.1f}",
            "{} to {}".format(*block["nfe_range"]),
            f"{block['accepted']:.1f}",
            f"{block['rejected']:.1f}",
        ]
        for name, block in found["blocks"].items()
    ]
    per = "per batch" if shared else "per image"
    lines = [table(["block", "time x channel x y x x", f"NFE {per}", "range", "accepted", "rejected"], rows)]
    if found["accuracy"] is not None:
        n = found["images"]
        low, high = accuracy_interval(round(found["accuracy"] * n), n)
        lines.append(
            f"accuracy  {100 * found['accuracy']:.1f} % of {n} (95 % interval {100 * low:.1f} to {100 * high:.1f})"
        )
    lines.append(f"file      {found['file']} ({human_bytes(found['bytes'])})")
    return "\n".join(lines)


def chosen_images(what: What) -> Any:
    """Load the images, by default no more than 100."""
    import dcnbio

    if what.limit is None:
        # fewer images than the default limit are no mistake of the user's; any other fault shows again without it
        with contextlib.suppress(InputError):
            return dcnbio.load_images(what.images, split=what.split, limit=DEFAULT_LIMIT, resize=what.resize)
    return dcnbio.load_images(what.images, split=what.split, limit=what.limit, resize=what.resize)


def check_size(net: Any, data: Any, settings: dict[str, Any], yes: bool) -> str:
    """Estimate the size of a recording; refuse a large one that was not agreed to."""
    from dcnbio.probe.plan import plan
    from dcnbio.probe.settings import ProbeSettings
    from dcnbio.probe.stimuli import as_stimuli
    from dcnbio.recording import estimate_bytes, human_bytes

    size = estimate_bytes(plan(net, as_stimuli(data), ProbeSettings(**settings)))
    if size > LARGE and not yes:
        raise InputError(
            f"this recording would take {human_bytes(size)}; pass --yes to write it, or choose fewer images (--limit), "
            "times (--times) or blocks (--blocks)."
        )
    return human_bytes(size)


def probe(
    what: Annotated[What, Parameter(name="*")] = What(),
    how: Annotated[How, Parameter(name="*")] = How(),
    where: Annotated[Where, Parameter(name="*")] = Where(),
) -> int:
    """Record the trajectories h(t) of a network's blocks on images, into a labelled file.

    Without arguments: the shipped dcn-ode on 100 of the shipped images.
    """
    from dcnbio.recording import check_target

    out = where.out or Path(f"{Path(what.checkpoint).stem or 'run'}.zarr")
    check_target(out, overwrite=where.overwrite, resume=where.resume)
    settings = settings_of(what, how)
    import dcnbio
    from dcnbio.model.loading import load

    net = load(what.checkpoint, what.model, **integration_time(what.integration_time))
    data = chosen_images(what)
    size = check_size(net, data, settings, where.yes)
    say = (lambda *parts: None) if where.json else print
    say(f"{what.checkpoint}: {net.spec.row}, T = {', '.join(f'{t:g}' for t in net.spec.integration_time)}")
    say(f"{data.sizes['stimulus']} images of {data.attrs['source']}, about {size} to {out}")
    for notice in json.loads(data.attrs.get("notices", "[]")):
        say(f"note: {notice}")
    tree = dcnbio.probe(
        net, data, out=out, overwrite=where.overwrite, resume=where.resume, progress=not where.json, **settings
    )
    found = summary(tree, out)
    if how.stepping == "shared":
        from dcnbio.probe import ProbeSettings, batch_coupling

        coupling = batch_coupling(net, data, ProbeSettings(**settings))
        found["coupling"] = vars(coupling)
        say(coupling)
    print(json.dumps(found) if where.json else report(found, how.stepping == "shared"))
    for line in reasons(tree):
        print(f"failed: {line}", file=sys.stderr)
    return 3 if found["failed"] else 0
