"""Puts what a script makes into README.md, between two marks, in place of what is there."""

from __future__ import annotations

from pathlib import Path

__all__ = ["README", "put_between"]

README = Path(__file__).parent / "README.md"


def put_between(text: str, begin: str, end: str, body: str) -> str:
    """Replace what stands between two marks of a text."""
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        missing = begin if not found_begin else end
        raise SystemExit(f"README.md lacks the mark {missing}; put it back where that part goes")
    return f"{before}{begin}\n\n{body.strip()}\n\n{end}{after}"
