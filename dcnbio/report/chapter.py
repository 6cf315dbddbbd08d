"""What a chapter of a report holds: a sentence of conclusion, figures, claims with controls, caveats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Chapter", "Picture"]


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it.

    Attributes
    ----------
    name : str
        Of the figure.
    png : bytes
        At twice the resolution it is shown at.
    width : int
        How wide it is shown, CSS pixels.
    caption : str

    Examples
    --------
    >>> Picture("scales", b"", 432, "Scale against depth.").width
    432
    """

    name: str
    png: bytes
    width: int
    caption: str


@dataclass(frozen=True)
class Chapter:
    """A chapter.

    Attributes
    ----------
    key, title : str
        Its anchor and its heading.
    question : str
        What it asks, in a sentence or two.
    conclusion : str
        What was found; empty where the chapter only shows.
    claims : sequence of mapping
        Plain values of claims: name, n, unit, estimate, interval, control, conclusion.
    pictures : sequence of Picture
    caveats : sequence of str
        Where the chapter misleads.
    body : str
        HTML of its own, such as a viewer; trusted.
    missing : str
        Why the chapter could not be made; empty where it could.
    main : sequence of mapping
        Those of `claims` that the summary shows.

    Examples
    --------
    >>> Chapter("scales", "Scales", "How large are the filters?").claims
    ()
    """

    key: str
    title: str
    question: str
    conclusion: str = ""
    claims: Sequence[Mapping[str, Any]] = ()
    pictures: Sequence[Picture] = ()
    caveats: Sequence[str] = ()
    body: str = field(default="", repr=False)
    missing: str = ""
    main: Sequence[Mapping[str, Any]] = ()
