"""Equations as MathML, which browsers show by themselves: a page then loads nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def mathml(text: str, *, inline: bool) -> str:
    r"""Translate an equation.

    Examples
    --------
    >>> "mfrac" in mathml(r"\\frac{a}{b}", inline=True)
    True
    """
    return str(tex2mathml(text.strip(), as_block=not inline))


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write an equation in a line."""
    writer.body.append(mathml(node.astext(), inline=True))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write an equation on lines of its own."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(mathml(node.astext(), inline=False))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
