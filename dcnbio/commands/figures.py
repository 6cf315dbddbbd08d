"""``dcnbio figures``: figures of recordings, results, runs and checkpoints, in a journal's width and fonts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.figures_choice import chosen_sources
from dcnbio.commands.figures_sources import made, sources_of
from dcnbio.commands.options import Json, Model, flag, name_list, whole_numbers
from dcnbio.commands.output import Speaker, command_text, tell

if TYPE_CHECKING:
    from dcnbio.figures.export.run import Exported
    from dcnbio.figures.export.settings import ExportSettings
    from dcnbio.figures.export.sources import Source

__all__ = ["figures"]


@dataclass(frozen=True)
class Look:
    """How figures look."""

    venue: Annotated[
        str | None,
        Parameter(help="icml, neurips, cvpr, plos, nature or screen: width, fonts, sizes. [default: screen]"),
    ] = None
    formats: Annotated[
        str | None, Parameter(help="Of pdf, svg, eps, tiff, png, between commas. [default: what the venue takes]")
    ] = None
    dpi: Annotated[str | None, Parameter(help="Of tiff and png. [default: 300,600]")] = None
    latex: Annotated[bool, flag("Set text with LaTeX, which must be installed.")] = False
    stimulus: Annotated[
        int | None,
        Parameter(help="Index of the image that maps of a recording are shown of. [default: the first solved]"),
    ] = None
    channel: Annotated[
        str | None,
        Parameter(help="Channel that is shown, e.g. 5; or by block, e.g. '1=5;3=12'. [default: the widest range]"),
    ] = None
    recipe: Annotated[
        Path | None, Parameter(help="A .toml file with venue, formats, dpi, latex, stimulus, channel.")
    ] = None


@dataclass(frozen=True)
class Place:
    """Where figures go."""

    out: Annotated[Path, Parameter(help="A folder, made where it is not there.")] = Path("figures")
    only: Annotated[str | None, Parameter(help="Names of figures, between commas; all if left out.")] = None
    overwrite: Annotated[bool, flag("Replace files that are there.")] = False
    json: Json = False


ANY_LOOK, ANY_PLACE = Look(), Place()


def figures(
    *inputs: Annotated[
        str, Parameter(help="Recordings, results of dcnbio analyze, folders of dcnbio train, checkpoints.")
    ],
    look: Annotated[Look, Parameter(name="*")] = ANY_LOOK,
    place: Annotated[Place, Parameter(name="*")] = ANY_PLACE,
    model: Model = None,
) -> int:
    """Draw every figure that recordings, results, training runs and checkpoints support.

    Beside each figure: the table that redraws it (.csv), its caption (.txt) and where it comes from (.provenance.json).
    Where a recording is damaged, or a figure of --only is left out, the others are written and the exit status is 3.
    """
    from dcnbio.figures.export.run import export_figures

    settings = settings_of(look)
    speaker = Speaker(place.json)
    only = name_list(place.only)
    opened = [source for name in dict.fromkeys(inputs) or ("dcn-ode",) for source in sources_of(name, model, only)]
    sources = chosen_sources(opened, settings.stimulus, settings.channel)
    refuse_files_in_the_way(sources, place, only, settings)
    font_notice(speaker, settings)
    found = export_figures(
        [made(source) for source in sources],
        place.out,
        settings,
        only=only,
        overwrite=place.overwrite,
        command=command_text(sys.argv[1:]),
        tell=tell,
    )
    speaker.give(summary(found, settings), report(found, place.out))
    return 3 if found.failed else 0


def refuse_files_in_the_way(sources: list[Source], place: Place, only: list[str], settings: ExportSettings) -> None:
    """Refuse a folder that figures cannot go to before what takes seconds is worked out, not only after it."""
    from dcnbio.figures.export.folder import check_folder
    from dcnbio.figures.export.plan import drawing_names, drawings_of
    from dcnbio.figures.export.run import all_names

    drawings = drawings_of(sources, dict.fromkeys(only))
    # a figure of what is still to be made is drawn for certain; others may be left out, and are checked when planned
    names = [name for drawing, name in drawing_names(drawings).items() if callable(drawings[drawing][0].result)]
    check_folder(place.out, [file for name in names for file in all_names(name, settings)], overwrite=place.overwrite)


def settings_of(look: Look) -> ExportSettings:
    """Gather the settings, each from where it was given."""
    from dcnbio.figures.export.settings import read_figure_recipe, settle_settings

    given: dict[str, Any] = {}
    if look.venue is not None:
        given["venue"] = look.venue
    if look.formats is not None:
        given["formats"] = name_list(look.formats)
    if look.dpi is not None:
        given["dpi"] = whole_numbers(look.dpi, "--dpi")
    if look.latex:
        given["latex"] = True
    given |= {name: value for name in ("stimulus", "channel") if (value := getattr(look, name)) is not None}
    return settle_settings(given, {} if look.recipe is None else read_figure_recipe(look.recipe))


def font_notice(speaker: Speaker, settings: ExportSettings) -> None:
    """Say where a venue's font is not there."""
    from dcnbio.figures.fonts import choose_font
    from dcnbio.figures.venues import find_venue

    font = choose_font(find_venue(settings.venue))
    if font.notice and not settings.latex:
        speaker.note(font.notice)


def summary(found: Exported, settings: ExportSettings) -> dict[str, Any]:
    """Give plain values."""
    left_out = {"left_out": found.left_out, "failed": list(found.failed)}
    return {"figures": found.figures, **left_out, "settings": settings.described()}


def report(found: Exported, out: Path) -> str:
    """Say what was written, and what was not."""
    lines = [f"{name}: {', '.join(Path(file).name for file in files)}" for name, files in found.figures.items()]
    lines += [f"{name} is left out: {why}" for name, why in found.left_out.items()]
    return "\n".join([*lines, f"written to {out}"])
