"""What a recording is, without reading its maps."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording.journal import Journal
from dcnbio.recording.nfe_range import nfe_range
from dcnbio.recording.opening import open_recording
from dcnbio.recording.state_error import error_summary
from dcnbio.recording.target import state_of

__all__ = ["describe"]


def describe(path: str | os.PathLike[str], *, verify: bool = False) -> dict[str, Any]:
    """Say what a recording holds and how much of it is finished, in plain values.

    Parameters
    ----------
    path : path
        A recording, finished or not.
    verify : bool
        Read every file of a Zarr store and compare it with what was recorded.

    Returns
    -------
    dict
        ``path``, ``complete`` (bool), ``done`` and ``total`` (images), ``bytes`` (on the disk), ``provenance``, and
        ``blocks``: for each, ``shape`` (channel, y, x) and ``dtype`` of h (None where no h is stored), ``times`` (or
        "accepted"),
        ``nfe`` (least and most of the images that were solved, whether to the end or not; None where none was),
        ``nfe_per``, ``failed`` (images per status that is not ok) and ``h_error`` (see
        `error_summary`; None where no error was estimated). With `verify`, ``verified`` (bool; a netCDF file has no
        list to compare with) and, of an unfinished one, ``damaged`` (files that ``--resume`` will record again; their
        images are not counted as done).

    Raises
    ------
    RecordingError
        When there is no recording, or it is damaged; a file that is not as it was recorded is named.

    Examples
    --------
    >>> describe("no-such-run.zarr")
    Traceback (most recent call last):
    ...
    dcnbio.errors.RecordingError: no-such-run.zarr does not exist; check the path
    """
    path = Path(path)
    about: dict[str, Any] = {"path": str(path), "bytes": _bytes(path)}
    if state_of(path) == "unfinished":
        try:
            return about | _describe_unfinished(path, verify)
        except (RecordingError, OSError):
            # its journal goes when it becomes complete, which may have happened just now
            if state_of(path) != "complete":
                raise
    if verify:
        about["verified"] = path.is_dir()
    with open_recording(path, verify=verify) as tree:
        total = int(tree.sizes["stimulus"])
        return about | {
            "complete": True,
            "done": total,
            "total": total,
            "provenance": json.loads(tree.attrs["provenance"]),
            "blocks": {name: _describe_block(node.to_dataset()) for name, node in tree.children.items()},
        }


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(_size(file) for file in files if file.is_file())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # of another process that records here, and has just renamed it
        return 0


def _describe_block(dataset: xr.Dataset) -> dict[str, Any]:
    names = {code: name for name, code in json.loads(dataset["status"].attrs["codes"]).items()}
    failed = Counter(names[int(code)] for code in dataset["status"].values if code)
    stored = "h" in dataset
    return {
        "shape": list(dataset["h"].shape[2:]) if stored else None,
        "dtype": str(dataset["h"].dtype) if stored else None,
        "times": dataset["time"].values.tolist() if "time" in dataset.coords else "accepted",
        "nfe": nfe_range(dataset),
        "nfe_per": dataset.attrs["nfe_per"],
        "failed": dict(failed),
        "h_error": error_summary(dataset),
    }


def _describe_unfinished(path: Path, verify: bool) -> dict[str, Any]:
    journal = Journal(path)
    header = journal.header()
    layout = header.layout
    damaged: list[str] = []
    spans = [layout.batch(index) for index in journal.finished(damaged if verify else None)]
    done = sum(span.stop - span.start for span in spans)
    blocks: dict[str, Any]
    if done:
        tree = open_recording(path, partial=True, verify=verify)
        blocks = {name: _describe_block(node.to_dataset()) for name, node in tree.children.items()}
    else:
        blocks = {
            block.name: {
                "shape": list(block.shape) if block.store_h else None,
                "dtype": block.dtype if block.store_h else None,
                "times": "accepted" if block.accepted else block.times.tolist(),
                "nfe": None,
                "nfe_per": layout.nfe_per,
                "failed": {},
                "h_error": None,
            }
            for block in layout.blocks
        }
    return {
        **({"verified": True, "damaged": damaged} if verify else {}),
        "complete": False,
        "done": done,
        "total": layout.n,
        "provenance": dict(header.provenance),
        "blocks": blocks,
    }
