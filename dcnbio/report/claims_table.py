"""Writes claims as a table: estimate, interval, n, control, and the sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dcnbio.analysis.claim import word_mark

__all__ = ["claim_line", "claims_table", "interval_text", "number_text", "subject_of"]

SHOWN = 12
HEADS = ("what", "estimate", "95 % interval", "n", "of", "control")
NUMBERS = ("estimate", "n")


def number_text(value: float | None) -> str:
    """Write a number with three digits, and one that does not exist as a dash.

    Examples
    --------
    >>> number_text(0.12345), number_text(None), number_text(1234.5), number_text(-2.0)
    ('0.123', '-', '1234', '-2')
    """
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def limit_text(claim: Mapping[str, Any]) -> str:
    """Write the estimate of a claim or a control, marked where it is a limit.

    Examples
    --------
    >>> limit_text({"estimate": 0.5, "limit": "lower"}), limit_text({"estimate": 0.5})
    ('>0.5', '0.5')
    """
    return f"{word_mark(claim.get('limit'))}{number_text(claim['estimate'])}"


def interval_text(interval: Sequence[float] | None) -> str:
    """Write limits.

    Examples
    --------
    >>> interval_text([0.1, 0.25]), interval_text(None)
    ('0.1 to 0.25', '-')
    """
    return "-" if interval is None else f"{number_text(interval[0])} to {number_text(interval[1])}"


def claim_row(claim: Mapping[str, Any]) -> str:
    """Write one claim as a row."""
    control = claim.get("control") or {}
    against = escape(str(control.get("name", "")))
    if control.get("estimate") is not None:
        against += f": {escape(limit_text(control))}"
        against += f" ({interval_text(control['interval'])})" if control.get("interval") else ""
    interval = interval_text(claim["interval"])
    if claim["interval"] is None and claim.get("interval_method"):
        interval = escape(str(claim["interval_method"]))
    name, unit = (escape(str(claim.get(key, ""))) for key in ("name", "unit"))
    texts = (name, escape(limit_text(claim)), interval, f"{claim['n']:,}", unit, against)
    # on a narrow screen a row is a block, and each cell says itself what it is
    cells = (f"<td{number_class(head)} data-head='{head}'>{text}</td>" for head, text in zip(HEADS, texts, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def number_class(head: str) -> str:
    """Mark a column of numbers."""
    return " class='number'" if head in NUMBERS else ""


def rows_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """Write a table of claims."""
    head = "".join(f"<th scope='col'{number_class(head)}>{head}</th>" for head in HEADS)
    rows = "\n".join(claim_row(claim) for claim in claims)
    table = f"<table class='claims'><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
    return f"<div class='scroll'>{table}</div>"


def subject_of(claim: Mapping[str, Any]) -> str:
    """Read what a claim is about from its name, which begins with it.

    Parameters
    ----------
    claim : mapping
        Plain values of `dcnbio.analysis.claim.Claim`.

    Examples
    --------
    >>> subject_of({"name": "dcn-ode block 2: completion index"}), subject_of({"name": "slope"})
    ('dcn-ode block 2', '')
    """
    about, colon, _ = str(claim.get("name", "")).partition(": ")
    return about if colon else ""


def sentence_list(claims: Sequence[Mapping[str, Any]]) -> str:
    """Write what claims say as a list; each says first what it is about, since many say the same of several blocks."""
    return "<ul>" + "".join(f"<li>{sentence(claim)}</li>" for claim in claims) + "</ul>"


def sentence(claim: Mapping[str, Any]) -> str:
    """Write what a claim says."""
    about, text = escape(subject_of(claim)), escape(str(claim["conclusion"]))
    return f"<b>{about}:</b> {text}" if about and not text.startswith(about) else text


def claim_line(claim: Mapping[str, Any]) -> str:
    """Write a claim in one line: estimate, interval or why there is none, n, and what it is held against.

    Parameters
    ----------
    claim : mapping
        Plain values of `dcnbio.analysis.claim.Claim`.

    Examples
    --------
    >>> claim = {"name": "a: slope", "n": 3, "unit": "layers", "estimate": 0.5, "interval": [0.1, 0.9]}
    >>> claim_line({**claim, "control": {"name": "no change", "estimate": 0.0}})
    'a: slope, 0.5 (95 % interval 0.1 to 0.9; n = 3 layers; no change: 0)'
    """
    interval = claim.get("interval")
    why = claim.get("interval_method") or "no interval"
    parts = [
        f"95 % interval {interval_text(interval)}" if interval else str(why),
        f"n = {claim['n']:,} {claim['unit']}",
    ]
    control = claim.get("control") or {}
    if control.get("estimate") is not None:
        parts.append(f"{control['name']}: {limit_text(control)}")
    return f"{claim['name']}, {limit_text(claim)} ({'; '.join(parts)})"


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """Write claims as HTML: the sentences, then the numbers; after the first twelve the rest is folded.

    Parameters
    ----------
    claims : sequence of mapping
        Plain values of `dcnbio.analysis.claim.Claim`.

    Examples
    --------
    >>> claim = {"name": "slope", "n": 3, "estimate": 0.5, "interval": [0.1, 0.9], "conclusion": "It rises."}
    >>> "It rises." in claims_table([claim]), claims_table([])
    (True, '')
    """
    if not claims:
        return ""
    parts = [sentence_list(claims[:SHOWN]), rows_table(claims[:SHOWN])]
    if len(claims) > SHOWN:
        folded = f"{sentence_list(claims[SHOWN:])}{rows_table(claims[SHOWN:])}"
        parts.append(f"<details><summary>{len(claims) - SHOWN} more</summary>{folded}</details>")
    return "\n".join(parts)
