"""Text that every file format can hold: names of files that are no UTF-8 have parts that none can."""

from __future__ import annotations

__all__ = ["stored_text"]


def stored_text(text: str) -> str:
    r"""Put a question mark in the place of each byte that is no UTF-8; other text stays as it is.

    Python gives such bytes of a file's name as lone surrogates, which open the file and cannot be written as text.

    Examples
    --------
    >>> stored_text("bépo"), stored_text("b\udce9po")
    ('bépo', 'b?po')
    """
    return text.encode("utf-8", "replace").decode("utf-8")
