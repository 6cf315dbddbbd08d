"""Where a figure comes from: hashes of its inputs, versions, seed, command, and each setting with its origin."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from dcnbio.figures.export.settings import ExportSettings
from dcnbio.figures.export.sources import Source
from dcnbio.figures.fonts import choose_font
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.venues import find_venue
from dcnbio.recording.provenance import gather_provenance

__all__ = ["figure_provenance", "seed_of"]

PACKAGES = ("matplotlib", "pandas", "pillow")


def attributes_of(result: Any) -> dict[str, Any]:
    """Give the attributes of a result that are plain values, and its own provenance."""
    attributes = dict(getattr(result, "attrs", {}))
    plain = {
        str(name): value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
        for name, value in attributes.items()
        if name not in ("claims", "provenance")
    }
    kept = {name: value for name, value in plain.items() if isinstance(value, str | int | float | bool)}
    if "provenance" in attributes:
        kept["provenance"] = json.loads(str(attributes["provenance"]))
    return kept


def seed_of(about: dict[str, Any]) -> int | None:
    """Find the seed of a result, None where nothing was drawn by chance."""
    found = about.get("seed", about.get("provenance", {}).get("seed"))
    return None if found is None else int(found)


def figure_provenance(
    kind: FigureKind, figure: Figure, sources: Sequence[Source], settings: ExportSettings, command: str
) -> dict[str, Any]:
    """Say where a figure comes from, in plain values.

    Parameters
    ----------
    kind : FigureKind
    figure : matplotlib.figure.Figure
    sources : sequence of Source
        What it shows; it was drawn from the first.
    settings : ExportSettings
    command : str
        The command line.

    Returns
    -------
    dict
    """
    about, venue = attributes_of(sources[0].result), find_venue(settings.venue)
    width, height = figure.get_size_inches()
    fields = {
        "figure": kind.name,
        "inputs": [{"name": one.name, "kind": one.kind, "sha256": one.sha256} for one in sources],
        "result": about,
        "seed": seed_of(about),
        "settings": settings.described(),
        "page": {
            "width_inches": float(width),
            "height_inches": float(height),
            "font": choose_font(venue).name,
            "text_points": venue.text,
            "venue_source": venue.source,
        },
        "columns": {name: {"long_name": text, "units": unit} for name, (text, unit) in kind.columns.items()},
        "drawn_with": {name: importlib.metadata.version(name) for name in PACKAGES},
    }
    return gather_provenance(fields, command=command)
