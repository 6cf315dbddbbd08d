"""Draws every figure that some results support and writes each with its data, caption and provenance."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError, RecordingError
from dcnbio.figures.export.folder import check_folder, write_files
from dcnbio.figures.export.formats import file_names, rendered
from dcnbio.figures.export.plan import Planned, plan_figures
from dcnbio.figures.export.provenance import figure_provenance
from dcnbio.figures.export.settings import ExportSettings
from dcnbio.figures.export.sources import Source
from dcnbio.figures.page import on_page
from dcnbio.figures.table import csv_text

__all__ = ["Exported", "all_names", "export_figures"]


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    figures : dict of str to list of str
        Files of each figure.
    left_out : dict of str to str
        Figures that no result supports, and why.
    failed : tuple of str
        Those of them that were wanted: asked for by name, or of a recording that is damaged.
    """

    figures: dict[str, list[str]]
    left_out: dict[str, str]
    failed: tuple[str, ...] = ()


def all_names(name: str, settings: ExportSettings) -> list[str]:
    """Name all files of a figure: the drawings, and its table, caption and provenance.

    Parameters
    ----------
    name : str
    settings : ExportSettings

    Returns
    -------
    list of str

    Examples
    --------
    >>> from dcnbio.figures.export.settings import settle_settings
    >>> all_names("filters", settle_settings({"formats": ["pdf"]}, {}))
    ['filters.pdf', 'filters.csv', 'filters.txt', 'filters.provenance.json']
    """
    return [*file_names(name, settings.formats, settings.dpi), f"{name}.csv", f"{name}.txt", f"{name}.provenance.json"]


def files_of(plan: Planned, settings: ExportSettings, command: str) -> dict[str, bytes]:
    """Draw one figure and give the content of its files."""
    with on_page(settings.venue, latex=settings.latex):
        figure = plan.kind.draw(plan.table)
        names = file_names(plan.name, settings.formats, settings.dpi)
        files = {name: rendered(figure, form, dpi, plan.name) for name, (form, dpi) in names.items()}
    about = figure_provenance(plan.kind, figure, plan.sources, settings, command)
    files[f"{plan.name}.csv"] = csv_text(plan.table).encode()
    files[f"{plan.name}.txt"] = f"{plan.kind.caption(plan.sources[0].result)}\n".encode()
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
    plans, left_out = plan_figures(sources, only)
    place = check_folder(
        folder, [name for plan in plans for name in all_names(plan.name, settings)], overwrite=overwrite
    )
    files: dict[str, bytes] = {}
    written: dict[str, list[str]] = {}
    for plan in plans:
        tell(plan.name)
        try:
            own = files_of(plan, settings, command)
        except InputError as error:  # such as a page without room for all panels
            left_out[plan.name] = error
            continue
        files |= own
        written[plan.name] = [str(Path(place, name)) for name in own]
    if not files:
        raise InputError("; ".join(f"{name} is left out: {why}" for name, why in left_out.items()))
    write_files(place, files)
    failed = tuple(name for name, why in left_out.items() if only or isinstance(why, RecordingError))
    return Exported(written, {name: str(why) for name, why in left_out.items()}, failed)
