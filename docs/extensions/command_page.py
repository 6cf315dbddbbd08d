"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re

INTRODUCTION = """# Commands

Every command prints its options with `--help`, takes `--json` to print one JSON object instead of text, and ends with
0 (done), 2 (an input or usage error: one plain sentence, nothing written), 3 (finished, but some items failed and are
named), or 130 and 143 (interrupted; what is finished is kept). This page is made from the commands at each build.
"""


def command_page() -> str:
    """Write the help of every command as Markdown.

    Returns
    -------
    str
        One section per command.
    """
    from dcnbio.commands.app import app

    text = app.generate_docs(output_format="markdown", recursive=True)
    first = re.search(r"^## dcnbio ", text, re.MULTILINE)
    sections = text[first.start() :] if first else text
    # the anchors are MyST's own, made from headings
    sections = re.sub(r"\[(`[^`]+`)\]\(#[^)]*\)", r"\1", sections)
    return f"{INTRODUCTION}\n{sections.strip()}\n"
