"""Draws every figure that some results support and writes each with its data, caption and provenance."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.figures.catalogue import figure_kind, kinds_of
from dcnbio.figures.export.folder import check_folder, write_files
from dcnbio.figures.export.formats import file_names, rendered
from dcnbio.figures.export.provenance import figure_provenance
from dcnbio.figures.export.settings import ExportSettings
from dcnbio.figures.export.sources import Source
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import on_page
from dcnbio.figures.table import Table, csv_text

__all__ = ["Exported", "export_figures"]


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    figures : dict of str to list of str
        Files of each figure.
    left_out : dict of str to str
        Figures that a result does not support, and why.
    """

    figures: dict[str, list[str]]
    left_out: dict[str, str]


@dataclass(frozen=True, eq=False)
class Planned:
    """A figure that will be drawn."""

    name: str
    kind: FigureKind
    source: Source
    table: Table


def planned(sources: Sequence[Source], only: Sequence[str]) -> tuple[list[Planned], dict[str, str]]:
    """Make the tables; say why a result has none."""
    wanted = [figure_kind(name).name for name in only]
    pairs = [
        (kind, source) for source in sources for kind in kinds_of(source.kind) if not wanted or kind.name in wanted
    ]
    often = Counter(kind.name for kind, _ in pairs)
    found, left_out = [], {}
    for kind, source in pairs:
        name = kind.name if often[kind.name] == 1 else f"{kind.name}-{source.name}"
        try:
            found.append(Planned(name, kind, source, kind.table(source.result)))
        except InputError as error:
            left_out[name] = str(error)
    names = Counter(plan.name for plan in found)
    if names and max(names.values()) > 1:
        twice = names.most_common(1)[0][0]
        raise InputError(f"two results would both be written as {twice}; rename one of the files.")
    if not found:
        why = "; ".join(left_out.values()) or f"no figure is made of {', '.join(source.name for source in sources)}."
        raise InputError(f"there is nothing to draw: {why}")
    return found, left_out


def all_names(plan: Planned, settings: ExportSettings) -> list[str]:
    """Name all files of a figure."""
    beside = [f"{plan.name}.csv", f"{plan.name}.txt", f"{plan.name}.provenance.json"]
    return [*file_names(plan.name, settings.formats, settings.dpi), *beside]


def files_of(plan: Planned, settings: ExportSettings, command: str) -> dict[str, bytes]:
    """Draw one figure and give the content of its files."""
    with on_page(settings.venue, latex=settings.latex):
        figure = plan.kind.draw(plan.table)
        names = file_names(plan.name, settings.formats, settings.dpi)
        files = {name: rendered(figure, form, dpi, plan.name) for name, (form, dpi) in names.items()}
    about = figure_provenance(plan.kind, figure, plan.source, settings, command)
    files[f"{plan.name}.csv"] = csv_text(plan.table).encode()
    files[f"{plan.name}.txt"] = f"{plan.kind.caption(plan.source.result)}\n".encode()
    files[f"{plan.name}.provenance.json"] = f"{json.dumps(about, indent=1, sort_keys=True)}\n".encode()
    return files


def export_figures(
    sources: Sequence[Source],
    folder: str | os.PathLike[str],
    settings: ExportSettings,
    *,
    only: Sequence[str] = (),
    overwrite: bool = False,
    command: str = "",
    tell: Callable[[str], Any] = lambda name: None,
) -> Exported:
    """Draw every figure that the results support and write it.

    Parameters
    ----------
    sources : sequence of Source
    folder : path
        Made where it is not there.
    settings : ExportSettings
    only : sequence of str
        Names of figures; all by default.
    overwrite : bool
        Whether files may be replaced.
    command : str
        For the provenance.
    tell : callable
        Called with the name of each figure before it is drawn.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        If there is nothing to draw, or a file is in the way; nothing is written then.
    """
    plans, left_out = planned(sources, only)
    place = check_folder(folder, [name for plan in plans for name in all_names(plan, settings)], overwrite=overwrite)
    files: dict[str, bytes] = {}
    written: dict[str, list[str]] = {}
    for plan in plans:
        tell(plan.name)
        own = files_of(plan, settings, command)
        files |= own
        written[plan.name] = [str(Path(place, name)) for name in own]
    write_files(place, files)
    return Exported(written, left_out)
