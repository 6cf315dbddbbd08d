"""``dcnbio analyze contrast --recordings``: accuracy against contrast from recordings that were made before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcnbio.commands.options import name_list
from dcnbio.commands.output import Speaker
from dcnbio.commands.table import table, wrapped
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.analysis.contrast.recordings import RecordedContrast

__all__ = ["as_json", "recorded_contrast", "report"]


def recorded_contrast(recordings: str, speaker: Speaker) -> int:
    """Compare recordings at other contrasts with those at contrast 1, and print what is found."""
    from dcnbio.analysis.contrast import contrast_of_recordings
    from dcnbio.recording import open_recording

    names = [name for name in name_list(recordings) if name]
    if len(set(names)) < len(names) or len(names) < 2:
        raise InputError(f"--recordings is {recordings!r}; name two or more, each once, between commas.")
    found = contrast_of_recordings([open_recording(name) for name in names])
    speaker.give(as_json(found), report(found))
    return 0


def as_json(found: RecordedContrast) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "contrast",
        "recordings": found.table,
        "claims": [claim.to_dict() for claim in found.claims],
        "conclusion": found.conclusion,
    }


def report(found: RecordedContrast) -> str:
    """Lay out what a person sees, within 80 columns."""
    header = ["network", "c", "block 1", "n", "right %", "NFE"]
    rows = [
        [
            line["network"],
            f"{line['contrast']:g}",
            "T" if line["protocol"] == "reference" else line["protocol"],
            line["n"],
            f"{100 * line['accuracy']:.2f}",
            "-" if line["nfe_block_1"] is None else f"{line['nfe_block_1']:.1f}",
        ]
        for line in found.table
    ]
    sentences = [wrapped(claim.conclusion) for claim in found.claims]
    conclusion = wrapped(f"Conclusion: {found.conclusion}")
    return "\n\n".join([table(header, rows), "\n".join(sentences), conclusion])
