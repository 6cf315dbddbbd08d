"""Pictures of the README and of the pages: there, small enough to load at once, and told in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts)]
PICTURES = [
    (page, alt, name)
    for page in PAGES
    for alt, name in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
]


def test_the_readme_shows_a_picture():
    assert [name for page, _, name in PICTURES if page.name == "README.md"]


@pytest.mark.parametrize(("page", "alt", "name"), PICTURES, ids=lambda value: getattr(value, "stem", None))
def test_a_picture_is_there_is_small_and_is_told_in_words(page, alt, name):
    path = page.parent / name
    assert path.stat().st_size < 200_000
    assert len(alt.split()) > 5
    with Image.open(path) as image:
        assert 1200 <= image.width <= 2400  # sharp where a page shows it 800 wide
