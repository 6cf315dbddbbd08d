"""The last steps of a recording: small variables become arrays, every file is listed, and the root says complete."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcnbio.errors import RecordingError
from dcnbio.recording.assemble import block_dataset, root_attributes, root_dataset
from dcnbio.recording.durable import durable_file, sync_directories, sync_tree
from dcnbio.recording.journal import Header, Journal
from dcnbio.recording.layout_json import layout_summary
from dcnbio.recording.provenance import fingerprint
from dcnbio.recording.record import merge
from dcnbio.recording.small_arrays import write_node
from dcnbio.recording.stamps import Stamp, stamp_from_json, stamp_of_chunk, stamp_to_json

__all__ = ["MANIFEST", "is_announced", "publish", "read_manifest"]

# Inside an array's folder, because Zarr lists the folders of groups and warns of files there that it does not know.
MANIFEST = Path("stimulus", "manifest.json")


def publish(store: Path) -> None:
    """Make an unfinished store, all of whose batches are finished, a complete recording.

    Until the very last step, one rename, the store has no root group and no reader takes it for a recording; each step
    before can be repeated after an interruption.

    Parameters
    ----------
    store : Path
        Folder of the recording.

    Raises
    ------
    RecordingError
        When a batch is not finished.
    """
    journal = Journal(store)
    header = journal.header()
    finished = journal.finished()
    missing = [index for index in range(header.layout.batches) if index not in finished]
    if missing:
        raise RecordingError(
            f"{store} cannot be finished: batch {missing[0]} is not recorded, and {len(missing)} of "
            f"{header.layout.batches} in all; go on with --resume"
        )
    records = [finished[index][0] for index in range(header.layout.batches)]
    stage = journal.folder / f"stage-{uuid.uuid4().hex[:8]}"
    _stage(header, merge(records), stage)
    stamps: dict[str, Stamp] = {}
    for _, shards in finished.values():
        stamps.update(shards)
    stamps.update(_stamps(stage))
    sync_tree(stage)
    for block in header.layout.blocks:
        _move(stage / block.name, store / block.name)
        os.replace(stage / block.name / "zarr.json", store / block.name / "zarr.json")
    _move(stage, store, skip=[block.name for block in header.layout.blocks])
    files = {name: stamp_to_json(stamp) for name, stamp in stamps.items()}
    about = {"layout": layout_summary(header.layout), "provenance": fingerprint(header.provenance)}
    values = {**about, "files": files}
    with durable_file(store / MANIFEST, journal.folder) as file:
        file.write(json.dumps(values, ensure_ascii=False).encode())
    sync_directories([store, *(store / block.name for block in header.layout.blocks)])
    with durable_file(store / "zarr.json", journal.folder) as file:
        file.write(json.dumps(_root_group(store, header), ensure_ascii=False).encode())
    shutil.rmtree(journal.folder, ignore_errors=True)


def _stage(header: Header, merged: Mapping[str, Any], stage: Path) -> None:
    layout = header.layout
    write_node(stage, root_dataset(layout, np.arange(layout.n), dict(merged)))
    for block in layout.blocks:
        write_node(stage / block.name, block_dataset(layout, block, dict(merged)))


def _stamps(stage: Path) -> dict[str, Stamp]:
    """Stamp the staged values, a chunk in each file; metadata are small enough to be whole or unreadable."""
    files = [path for path in stage.rglob("*") if path.is_file() and path.name != "zarr.json"]
    return {path.relative_to(stage).as_posix(): stamp_of_chunk(path) for path in files}


def _move(source: Path, target: Path, skip: list[str] | None = None) -> None:
    """Move the arrays of a staged group into the store, replacing what an interrupted attempt left."""
    target.mkdir(exist_ok=True)
    for array in [path for path in source.iterdir() if path.is_dir() and path.name not in (skip or [])]:
        shutil.rmtree(target / array.name, ignore_errors=True)
        os.rename(array, target / array.name)


def _root_group(store: Path, header: Header) -> dict[str, Any]:
    """Metadata of the root group, with those of all nodes below, so that a reader opens one file instead of forty."""
    nodes = {}
    for path in sorted(store.rglob("zarr.json")):
        name = path.parent.relative_to(store).as_posix()
        if name != "." and not name.startswith(".journal"):
            nodes[name] = json.loads(path.read_bytes())
    return {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": root_attributes(header.provenance, complete=True),
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": nodes},
    }


def read_manifest(store: Path) -> tuple[dict[str, Any], dict[str, Stamp]]:
    """Read what a complete store was announced to hold, and its files.

    Returns
    -------
    tuple of dict
        The layout's summary; the stamp of each file with values.

    Raises
    ------
    RecordingError
        When the list is missing or cannot be read.
    """
    try:
        values = json.loads((store / MANIFEST).read_bytes())
        files = {str(name): stamp_from_json(value) for name, value in values["files"].items()}
        return dict(values["layout"]), files
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(
            f"{store} is damaged: its list of files {MANIFEST.as_posix()} cannot be read ({error}); copy the whole "
            f"store again or record anew with --overwrite"
        ) from error


def is_announced(store: Path, attributes: Mapping[str, Any]) -> bool:
    """Whether a complete store's provenance is the one that it was recorded with.

    What is in the root's attributes is compared with the fingerprint beside the list of files, which recordings of an
    earlier version lack: these pass.
    """
    told = json.loads((store / MANIFEST).read_bytes()).get("provenance")
    try:
        return told is None or told == fingerprint(json.loads(attributes["provenance"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        return False
