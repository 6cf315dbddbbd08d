"""Whether a recording that is there can be gone on with, and which of its batches are done."""

from __future__ import annotations

import json
from pathlib import Path

from dcnbio.errors import RecordingError
from dcnbio.recording.journal import Header, Journal
from dcnbio.recording.layout_json import layout_summary
from dcnbio.recording.provenance import differences, numbers_of
from dcnbio.recording.publish import read_manifest
from dcnbio.recording.target import root_attributes_of

__all__ = ["batches_done"]


def batches_done(path: Path, header: Header, *, complete: bool, damaged: list[str]) -> set[int]:
    """Find the finished batches of a recording that is there; refuse one of another layout or of other numbers.

    Parameters
    ----------
    path : Path
        A store, complete or unfinished.
    header : Header
        What is to be recorded now.
    complete : bool
        Whether it is complete.
    damaged : list of str
        Files that are not those that were recorded are appended; their batches are not done.

    Returns
    -------
    set of int
        Indices of the batches.

    Raises
    ------
    RecordingError
        When what is there differs from what is asked, or cannot be read.
    """
    if complete:
        attributes = root_attributes_of(path) or {}
        stored = dict(json.loads(attributes.get("provenance", "{}")))
        summary = read_manifest(path)[0]
    else:
        begun = Journal(path).header()
        stored, summary = dict(begun.provenance), layout_summary(begun.layout)
    changed = differences(numbers_of(stored), numbers_of(header.provenance))
    changed += differences(summary, layout_summary(header.layout))
    if changed:
        once = "; ".join(dict.fromkeys(changed))  # the provenance and the layout share some names
        raise RecordingError(
            f"{path} cannot be resumed: {once}; use the same settings, or record anew with --overwrite"
        )
    return set(range(header.layout.batches)) if complete else set(Journal(path).finished(damaged))
