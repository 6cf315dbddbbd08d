r"""Docstrings are written for ``help()``: what reStructuredText would take for its own signs is plain text in them.

``|h|`` is an amplitude and no substitution, ``a * b`` a product and no emphasis, ``[1]`` a source below the same
docstring and no footnote of the page; and a word of a type such as "shape" is no link to something of that name.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

LITERAL = re.compile(r"(``.+?``|`[^`]+`_?)")
SOURCE = re.compile(r"^(\s*)\.\. \[(\d+)\] ")
SOURCE_MARK = re.compile(r"\[(\d+)\]_")


def plain(text: str) -> str:
    r"""Escape signs outside of code.

    Examples
    --------
    >>> print(plain("|h| is a * b, see `norm` and ``|x|``"))
    \|h\| is a \* b, see `norm` and ``|x|``
    """
    parts = LITERAL.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!\\)\|", r"\\|", parts[i])
        parts[i] = re.sub(r"(?<![\\\s*])\*(?!\*)|(?<=\S )\*(?= )|(?<=[\s(,])\*(?!\*)(?=\w)", r"\\*", parts[i])
    return "".join(parts)


def readable(lines: list[str]) -> list[str]:
    """Make the lines of a docstring mean in reStructuredText what they say."""
    made: list[str] = []
    doctest = source = False
    for line in lines:
        doctest = line.lstrip().startswith((">>>", "...")) or (doctest and bool(line.strip()))
        if doctest:
            made.append(line)
            continue
        source = SOURCE.match(line) is not None or (source and bool(line.strip()))
        if SOURCE.match(line):
            made += ["", SOURCE.sub(r"\1[\2] ", line)]
            continue
        if source:  # an indented second line would make a definition of the first
            made.append(plain(line.lstrip()))
            continue
        section = line.startswith("*")  # a parameter such as **overrides, which napoleon knows
        made.append(line if section else plain(SOURCE_MARK.sub(r"[\1]", line)))
    return made


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Hand the lines on, before napoleon sees them."""
    lines[:] = readable(lines)


def drop_word_links(app: Any, doctree: nodes.document) -> None:
    """Keep the links of types to classes, and none to attributes that share a word with a type's description."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        target = str(reference.get("reftarget", ""))
        if reference.get("refspecific") and "." not in target and not target[:1].isupper():
            reference.replace_self(nodes.Text(target))


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("doctree-read", drop_word_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
