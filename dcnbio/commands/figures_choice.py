"""Reads ``--stimulus`` and ``--channel`` of ``dcnbio figures``, and gives recordings of which figures show these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcnbio.commands.options import by_block, whole_number
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.figures.export.sources import Source

__all__ = ["channel_option", "chosen_sources"]

NAME = "--channel"


def channel_option(text: str | None) -> dict[str, int]:
    """Read a channel, for all blocks or by block.

    Examples
    --------
    >>> channel_option("5"), channel_option("1=5;3=12"), channel_option(None)
    ({'': 5}, {'block1': 5, 'block3': 12}, {})
    """
    if text is None:
        return {}
    given = by_block(text, NAME)
    if given is None:
        return {"": whole_number(text, NAME)}
    return {f"block{block}": whole_number(value, NAME) for block, value in given.items()}


def chosen_sources(sources: Sequence[Source], stimulus: int | None, channel: str | None) -> list[Source]:
    """Give the same sources, of which recordings show the image and the channels that were asked for.

    Raises
    ------
    InputError
        If a recording does not hold them, or no recording is given.
    """
    from dcnbio.figures.choice import Choice, with_choice

    if stimulus is None and channel is None:
        return list(sources)
    asked = f"stimulus (--stimulus) is {stimulus}" if channel is None else f"channel ({NAME}) is {channel!r}"
    if not any(source.kind == "recording" for source in sources):
        raise InputError(f"{asked}, and no recording is given that it would choose from; give one, or leave it out.")
    choice = Choice(stimulus, channel_option(channel))
    return [
        replace(source, result=with_choice(source.result, choice)) if source.kind == "recording" else source
        for source in sources
    ]
