"""The recipes of trained networks, told below the tables that link to them: settings and command, part by part."""

from __future__ import annotations

from recipe_distance import THE_PAPERS, part_distances, passes_distance

from dcnbio.model.checkpoint import Header
from dcnbio.model.checkpoint_kind import DECODER
from dcnbio.model.run_parts import earlier_parts, spent

__all__ = ["recipe_cells", "recipe_section"]


def section_title(name: str, header: Header) -> str:
    """Name a network's or a decoder's section."""
    kind = "the decoder of " if header.source.get("kind") == DECODER else ""
    return f"Recipe of {kind}{name}"


def commands(header: Header) -> list[str]:
    """List the command of each part of a training, empty where it was not recorded."""
    return [part.get("command") or "" for part in (*earlier_parts(header.recipe), header.recipe)]


def recipe_cells(name: str, header: Header) -> tuple[str, str, str]:
    """Give what a table says of a training: how far from the paper's and which commands, with links, and minutes."""
    place = f"#{section_title(name, header).lower().replace(' ', '-')}"
    parts = len(commands(header))
    recipe = ", ".join(part for part in (passes_distance(header), f"[settings]({place})") if part)
    minutes = spent(header.recipe, header.metrics, "minutes")
    told = f"{minutes:.0f}" if header.metrics.get("minutes") else "not recorded"
    return recipe, f"[{parts} commands]({place})" if parts > 1 else f"[command]({place})", told


def recipe_section(name: str, header: Header) -> list[str]:
    """List the parts of a training: every setting that is not the paper's, and the command."""
    out = ["", f"### {section_title(name, header)}", ""]
    told = list(zip(part_distances(header), commands(header), strict=True))
    for number, (settings, command) in enumerate(told, 1):
        # a list in one item would be a number too many
        lead, indent = ("", "") if len(told) == 1 else (f"{number}. ", "   ")
        out += [f"{lead}{settings or THE_PAPERS}", ""]
        out += [f"{indent}```bash", f"{indent}{command}", f"{indent}```", ""] if command else []
    return out[:-1]
