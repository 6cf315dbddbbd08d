"""The figures of ``dcnbio report``: drawn into the page, and written as PDF beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcnbio.commands.named_checkpoints import short_name
from dcnbio.commands.output import command_text, tell
from dcnbio.commands.report_subject import Finding
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.figures.export.settings import ExportSettings
    from dcnbio.report import Picture

__all__ = ["Drawn", "earlier_figures", "possible_files"]


def figure_settings() -> ExportSettings:
    """Give the settings of the figures beside the page."""
    from dcnbio.figures.export.settings import settle_settings

    return settle_settings({"formats": ["pdf"]}, {})


def possible_files() -> list[str]:
    """List the files of all figures, so that one in the way is found before anything is computed."""
    from dcnbio.figures import figure_kinds
    from dcnbio.figures.export.run import all_names

    return [file for name in figure_kinds() for file in all_names(name, figure_settings())]


def earlier_figures(folder: Path, written: Sequence[str]) -> list[str]:
    """List the figures in a report's folder that it did not draw: they may be of another network."""
    from dcnbio.figures import figure_kinds

    return [name for name in figure_kinds() if name not in written and (folder / f"{name}.pdf").exists()]


class Drawn:
    """The figures of a report, each drawn once: a network's sketch stands in several results."""

    def __init__(self, faults: list[Exception]) -> None:
        self.names: list[tuple[Finding, list[str]]] = []
        self.faults = faults

    def pictures(self, finding: Finding) -> list[Picture]:
        """Draw what a result supports and no other gave."""
        from dcnbio.figures.catalogue import kinds_of
        from dcnbio.report import picture_of

        before = {name for _, names in self.names for name in names}
        found = []
        for kind in kinds_of(finding.kind):
            if kind.name in before:
                continue
            try:
                found.append(picture_of(kind.name, finding.result))
            except InputError as error:
                print(f"figure {kind.name} is left out: {error}", file=sys.stderr)
            except Exception as error:
                print(f"figure {kind.name} failed: {type(error).__name__}: {error}", file=sys.stderr)
                self.faults.append(error)
        self.names.append((finding, [picture.name for picture in found]))
        return found

    def write(self, folder: Path, checkpoint: Path, *, overwrite: bool) -> list[str]:
        """Write every figure as PDF, with data, caption and provenance; give their names."""
        from dcnbio.figures.export.run import export_figures
        from dcnbio.figures.export.sources import Source, content_hash

        tell("figures")
        settings = figure_settings()
        sha256 = content_hash(checkpoint)
        written: list[str] = []
        for finding, names in self.names:
            if names:
                source = Source(finding.kind, finding.result, short_name(checkpoint), finding.sha256 or sha256)
                command = command_text(sys.argv[1:])
                found = export_figures([source], folder, settings, only=names, overwrite=overwrite, command=command)
                written += found.figures
        return written
