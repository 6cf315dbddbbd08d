"""Pages that are made from the code at each build, so that they cannot fall behind it.

``generated/commands.md`` is the help of every command, ``generated/api/*.rst`` documents the public names of every
room, ``generated/notebooks`` holds the executed notebooks, ``generated/cards.md`` the cards of what is shipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from api_pages import api_pages
from command_page import command_page

ROOT = Path(__file__).parents[2]
CARDS = ("data/checkpoints", "data/decoders", "data/images", "data/primate")


def write_where_changed(path: Path, text: str) -> None:
    """Write a page; an unchanged one keeps its date, so that it is not read again."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def card_page(root: Path) -> str:
    """Put the cards of the shipped networks, images and tables on one page."""
    parts = ["# The networks and data that are shipped\n"]
    for card in [card for folder in CARDS for card in sorted((root / folder).glob("*.md"))]:
        parts.append("\n".join(f"#{line}" if line.startswith("#") else line for line in card.read_text().splitlines()))
    return "\n\n".join(parts) + "\n"


def pages(root: Path) -> dict[str, str]:
    """Make every page; the keys are their paths below ``generated``."""
    made = {"commands.md": command_page(), "cards.md": card_page(root)}
    made |= {f"api/{name}.rst": text for name, text in api_pages().items()}
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        made[f"notebooks/{notebook.name}"] = notebook.read_text(encoding="utf-8")
    return made


def write_pages(app: Any) -> None:
    """Write all pages below the source folder, and drop those that nothing makes any more."""
    folder = Path(app.srcdir) / "generated"
    made = pages(ROOT)
    for name, text in made.items():
        write_where_changed(folder / name, text)
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in made:
            path.unlink()


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
