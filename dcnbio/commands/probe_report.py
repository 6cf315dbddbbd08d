"""What a recording came to, in numbers and as the table a person sees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcnbio.commands.table import table

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

__all__ = ["accuracy_line", "error_lines", "failure_lines", "probe_report", "probe_summary"]

NAMED_IN_FULL = 20
SOLVER = ("nfe", "accepted", "rejected", "status", "reason", "step_time", "h_error", "h_error_status")


def block_summary(block: xr.Dataset, batch: NDArray[np.int64] | None) -> dict[str, Any]:
    """Sum up a block over what was solved: over images, or over batches where these share their steps."""
    from dcnbio.recording.state_error import error_summary

    rows = (block["status"].values == 0).nonzero()[0].tolist()
    if batch is not None:
        rows = list({int(batch[row]): row for row in rows}.values())
    counts = {name: block[name].values[rows] for name in ("nfe", "accepted", "rejected")}
    means = {name: float(values.mean()) if rows else math.nan for name, values in counts.items()}
    return {
        "shape": [int(block.sizes[d]) for d in ("time", "channel", "y", "x")] if "h" in block else None,
        "times": int(block.sizes["time"]) if "time" in block.coords else "accepted",
        "variables": [str(name) for name in block.data_vars if name not in SOLVER],
        "nfe_per": block.attrs["nfe_per"],
        "nfe_mean": means["nfe"],
        "nfe_range": [int(counts["nfe"].min()), int(counts["nfe"].max())] if rows else None,
        "accepted": means["accepted"],
        "rejected": means["rejected"],
        "h_error": error_summary(block),
    }


def failures(root: xr.Dataset, blocks: dict[str, xr.Dataset]) -> list[dict[str, Any]]:
    """Name every image that failed, and why: the first block that says so."""
    found: dict[int, dict[str, Any]] = {}
    for block in blocks.values():
        for i in (block["status"].values != 0).nonzero()[0].tolist():
            stimulus, file = int(root["stimulus"].values[i]), str(root["file"].values[i])
            found.setdefault(i, {"stimulus": stimulus, "file": file, "reason": str(block["reason"].values[i])})
    return [found[i] for i in sorted(found)]


def probe_summary(tree: xr.DataTree, path: Path, same_classes: bool) -> dict[str, Any]:
    """Sum a recording up; there is an accuracy only where labels count the network's own classes."""
    from dcnbio.recording import describe

    root = tree.to_dataset()
    blocks = {name: node.to_dataset() for name, node in tree.children.items()}
    batch = root["batch"].values if "batch" in root.coords else None
    failed = failures(root, blocks)
    label, logits = root["label"].values, root["logits"].values
    labelled = same_classes and bool((label >= 0).all() and (label < logits.shape[1]).all())
    # NaN, where an image failed, is no class
    right = int(((logits.argmax(1) == label) & ~(logits != logits).any(1)).sum())
    return {
        "file": str(path),
        "bytes": describe(path)["bytes"],
        "complete": bool(tree.attrs["complete"]),
        "images": len(label),
        "failed": failed,
        "accuracy": right / len(label) if labelled else None,
        "blocks": {name: block_summary(block, batch) for name, block in blocks.items()},
    }


def shown(value: float) -> str:
    """Write a mean with one decimal."""
    return "-" if math.isnan(value) else f"{value:.1f}"


def accuracy_line(accuracy: float, n: int, failed: int) -> str:
    """Write an accuracy with its interval."""
    from dcnbio.probe.interval import accuracy_interval

    low, high = accuracy_interval(round(accuracy * n), n)
    wrong = f", the {failed} failed counted as wrong" if failed else ""
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    return f"accuracy  {100 * accuracy:.1f} % of {n} images{wrong} ({interval})"


def probe_report(found: dict[str, Any]) -> str:
    """Lay out the table a person sees."""
    from dcnbio.recording import human_bytes

    rows = []
    for name, block in found["blocks"].items():
        maps = ["no maps"] if block["shape"] is None else block["shape"][1:]
        spread = "-" if block["nfe_range"] is None else "{} to {}".format(*block["nfe_range"])
        counts = [shown(block[key]) for key in ("nfe_mean", "accepted", "rejected")]
        rows.append([name, str(block["times"]), " x ".join(map(str, maps)), counts[0], spread, *counts[1:]])
    per = next(iter(found["blocks"].values()))["nfe_per"]
    header = ["block", "times", "channel x y x x", f"NFE per {per}", "range", "accepted", "rejected"]
    lines = [table(header, rows)]
    if found["accuracy"] is not None:
        lines.append(accuracy_line(found["accuracy"], found["images"], len(found["failed"])))
    lines += error_lines({name: block["h_error"] for name, block in found["blocks"].items()})
    lines.append(f"file      {found['file']} ({human_bytes(found['bytes'])})")
    first, block = next(iter(found["blocks"].items()))
    variable = "h" if block["shape"] is not None else [*block["variables"], "nfe"][0]
    every = [name for one in found["blocks"].values() for name in one["variables"]]
    reductions = [name for name in dict.fromkeys(every) if name != "h"]
    if reductions:
        lines.append(f"reduced   {', '.join(reductions)}")
    partial = "" if found["complete"] else ", partial=True"
    opened = f"dcnbio.open({found['file']!r}{partial})"
    lines.append(f'in Python: import dcnbio; tree = {opened}; tree["{first}"]["{variable}"]')
    return "\n".join(lines)


def error_lines(errors: Mapping[str, dict[str, Any] | None]) -> list[str]:
    """Write the estimated error of h, block by block.

    Examples
    --------
    >>> error_lines({"block1": {"images": 10, "missing": 0, "median": 1.23e-4, "largest": 4.5e-4}, "block2": None})
    ['error     h of block1: median 1.2e-04, largest 4.5e-04 of |h| (10 images)']
    """
    lines = []
    for name, error in errors.items():
        if error is None:
            continue
        none = error["median"] is None
        numbers = "no estimate" if none else f"median {error['median']:.1e}, largest {error['largest']:.1e} of |h|"
        missing = f", {error['missing']} without one" if error["missing"] else ""
        lines.append(f"error     h of {name}: {numbers} ({error['images']} images{missing})")
    return lines


def failure_lines(failed: list[dict[str, Any]]) -> list[str]:
    """Name every image that failed: the first ones with the reason, all others by their stimulus.

    Examples
    --------
    >>> failure_lines([{"stimulus": 7, "file": "a.png", "reason": "image left out: non-finite values"}])
    ['failed: stimulus 7 (a.png): image left out: non-finite values', '1 image failed']
    """
    lines = []
    for entry in failed[:NAMED_IN_FULL]:
        name = f" ({entry['file']})" if entry.get("file") else ""
        lines.append(f"failed: stimulus {entry['stimulus']}{name}: {entry['reason']}")
    more = [str(entry["stimulus"]) for entry in failed[NAMED_IN_FULL:]]
    if more:
        lines.append(f"failed: stimulus {', '.join(more)} (reasons: --json, or the variable reason of the recording)")
    if not failed:
        return []
    return [*lines, f"{len(failed)} image{'s' if len(failed) > 1 else ''} failed", *advice(failed)]


def advice(failed: list[dict[str, Any]]) -> list[str]:
    """Say what helps against each way in which a solve ended early.

    Examples
    --------
    >>> advice([{"reason": "limit on attempted steps reached in block1 at t = 0.24"}, {"reason": "image left out"}])
    ['limit on attempted steps reached: give more steps (--max-steps) or looser tolerances (--rtol, --atol)']
    """
    from dcnbio.model.status import MEANING, Status

    looser = "or looser tolerances (--rtol, --atol)"
    helps = {
        Status.MAX_STEPS: f"give more steps (--max-steps) {looser}",
        Status.MAX_EVALUATIONS: f"give more evaluations (--max-evaluations) {looser}",
        Status.STEP_UNDERFLOW: f"run in float64 (--dtype float64) {looser}; a field of your own may be stiff or jump",
        Status.NON_FINITE: "look for very large weights; dcnbio.check_vector_field tests a field of your own",
    }
    said = {status: text for status, text in helps.items() if any(MEANING[status] in one["reason"] for one in failed)}
    return [f"{MEANING[status]}: {text}" for status, text in said.items()]
