"""The parts of the page that are not written in Python."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["template"]


def template(name: str) -> str:
    """Read a part: style.css, viewer.html or viewer.js.

    Examples
    --------
    >>> "font" in template("style.css")
    True
    """
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
