"""A store without batches, made beside its place so that nobody meets half of one."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from dcnbio.recording.durable import sync_tree
from dcnbio.recording.journal import Header, Journal
from dcnbio.recording.shards import create_array

__all__ = ["new_store"]


@contextlib.contextmanager
def new_store(path: Path, header: Header) -> Iterator[Path]:
    """Make the store that is to be moved to `path`: its journal and the arrays of h; gone at the end unless moved.

    Parameters
    ----------
    path : Path
        The store's place; its folder is made where it is missing.
    header : Header
        What will be recorded.

    Yields
    ------
    Path
        The store beside its place, on the disk.
    """
    parent = path.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    stage = parent / f".{path.name}.{uuid.uuid4().hex[:8]}.new"
    try:
        Journal(stage).start(header)
        for block in header.layout.blocks:
            create_array(stage / block.name, header.layout, block)
        sync_tree(stage)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
