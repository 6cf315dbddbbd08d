"""Puts a report together as one HTML page."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dcnbio.report.chapter import Chapter, Picture
from dcnbio.report.claims_table import claim_line, claims_table
from dcnbio.report.template import template

__all__ = ["Report", "report_html"]

# nothing may be loaded from elsewhere, whatever a caption holds
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

ABOUT = "A report by dcnbio. Every number stands with its n, its control and its interval, or why it has none."


@dataclass(frozen=True)
class Report:
    """A report on one network.

    Attributes
    ----------
    title : str
    about : sequence of (str, str)
        Lines of the network's card.
    cautions : sequence of str
        What the network is not good for.
    chapters : sequence of Chapter
    made : sequence of (str, str)
        How the report was made: version, command, images, seed.
    pictures : sequence of Picture
        Of the network itself, under its card.

    Examples
    --------
    >>> Report("my network", [("row", "dcn-ode")], ["any claim about models: one seed"], [], []).cautions[0]
    'any claim about models: one seed'
    """

    title: str
    about: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    chapters: Sequence[Chapter]
    made: Sequence[tuple[str, str]]
    pictures: Sequence[Picture] = ()


def lines_table(lines: Sequence[tuple[str, str]]) -> str:
    """Write pairs as a table."""
    rows = "\n".join(f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in lines)
    return f"<div class='scroll'><table class='card'><tbody>\n{rows}\n</tbody></table></div>"


def listed(sentences: Sequence[str]) -> str:
    """Write sentences as a list."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>" if sentences else ""


def picture_html(picture: Picture) -> str:
    """Write a figure with its caption."""
    data = base64.b64encode(picture.png).decode()
    # "eq. 4" ends no sentence
    short = escape(re.split(r"\. (?=[A-Z])", picture.caption)[0], quote=True)
    return (
        f"<figure id='figure-{escape(picture.name, quote=True)}'><div class='scroll'>"
        f"<img width='{picture.width}' style='--wide: {picture.width}px' alt='{short}' "
        f"src='data:image/png;base64,{data}'></div><figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def chapter_html(chapter: Chapter) -> str:
    """Write a chapter."""
    parts = [f"<section id='{escape(chapter.key, quote=True)}'><h2>{escape(chapter.title)}</h2>"]
    parts.append(f"<p>{escape(chapter.question)}</p>")
    if chapter.conclusion:
        parts.append(f"<p class='conclusion'>{escape(chapter.conclusion)}</p>")
    parts.append(chapter.body)
    parts += [picture_html(picture) for picture in chapter.pictures]
    if chapter.claims:
        parts += ["<h3>Numbers, intervals and controls</h3>", claims_table(chapter.claims)]
    if chapter.caveats:
        parts += ["<h3>Where this misleads</h3>", listed(chapter.caveats)]
    return "\n".join([*(part for part in parts if part), "</section>"])


def summary_line(chapter: Chapter) -> str:
    """Write what a chapter concludes, with its main numbers and their intervals, or why it is not there."""
    if chapter.missing:
        return f"<li>{escape(chapter.title)} is left out: {escape(chapter.missing)}</li>"
    link = f"<a href='#{escape(chapter.key, quote=True)}'>{escape(chapter.title)}</a>"
    return f"<li>{link}: {escape(chapter.conclusion)}{listed([claim_line(claim) for claim in chapter.main])}</li>"


def summary_html(chapters: Sequence[Chapter]) -> str:
    """Write what each chapter concludes."""
    there = [chapter for chapter in chapters if chapter.conclusion and not chapter.missing]
    lines = [summary_line(chapter) for chapter in [*there, *(one for one in chapters if one.missing)]]
    return "<section id='summary'><h2>Summary</h2><ul>" + "\n".join(lines) + "</ul></section>"


def report_html(report: Report) -> str:
    """Write the page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        HTML with everything in it: styles, figures, maps and scripts. It loads nothing.

    Examples
    --------
    >>> page = report_html(Report("a & b", [("row", "dcn-ode")], [], [Chapter("one", "One", "What?")], []))
    >>> "<title>a &amp; b</title>" in page, "://" in page
    (True, False)
    """
    # a chapter that this network does not have is named in the summary alone
    shown = [chapter for chapter in report.chapters if not chapter.missing]
    links = [("summary", "Summary"), ("card", "The network"), *((c.key, c.title) for c in shown)]
    menu = "".join(f"<li><a href='#{escape(key, quote=True)}'>{escape(title)}</a></li>" for key, title in links)
    cautions = f"<h3>Not good for</h3>{listed(report.cautions)}" if report.cautions else ""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            "<html lang='en'><head><meta charset='utf-8'>",
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(report.title)}</title>",
            f"<style>{template('style.css')}</style></head><body>",
            f"<header><h1>{escape(report.title)}</h1>",
            f"<p class='about'>{ABOUT}</p>",
            f"<nav aria-label='Chapters'><ul>{menu}</ul></nav></header><main>",
            summary_html(report.chapters),
            f"<section id='card'><h2>The network</h2>{lines_table(report.about)}{cautions}",
            *(picture_html(picture) for picture in report.pictures),
            "</section>",
            *(chapter_html(chapter) for chapter in shown),
            f"</main><footer><h2>How this was made</h2>{lines_table(report.made)}</footer></body></html>",
        ]
    )
