"""Which image, and which channel of a block, a person wants figures of a recording to show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from dcnbio.errors import InputError

__all__ = ["Choice", "choice_of", "shortened", "with_choice"]

MARK = "shown"


@dataclass(frozen=True)
class Choice:
    """What of a recording is shown where a figure shows a part.

    Attributes
    ----------
    stimulus : int or None
        Index of the image in its source; the first that was solved if None.
    channels : mapping of str to int
        Index of the channel by block; "" stands for all blocks. Where there is none, the channel with the widest range.
    """

    stimulus: int | None = None
    channels: Mapping[str, int] = field(default_factory=dict)

    def channel_of(self, block: str) -> int | None:
        """Give the channel of a block, None where none was chosen.

        Examples
        --------
        >>> Choice(channels={"block1": 5}).channel_of("block1"), Choice(channels={"": 2}).channel_of("block3")
        (5, 2)
        """
        return self.channels.get(block, self.channels.get(""))


def choice_of(recording: xr.DataTree) -> Choice:
    """Read what was chosen."""
    return Choice(**json.loads(str(recording.attrs.get(MARK, "{}"))))


def with_choice(recording: xr.DataTree, choice: Choice) -> xr.DataTree:
    """Give a recording of which figures show the image and the channels that were chosen.

    Parameters
    ----------
    recording : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`; it stays as it is.
    choice : Choice

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    InputError
        If the image, a block or a channel is not in the recording.
    """
    stimuli = recording.to_dataset()["stimulus"].values.tolist()
    if choice.stimulus is not None and choice.stimulus not in stimuli:
        raise InputError(f"stimulus (--stimulus) is {choice.stimulus}; this recording has {shortened(stimuli)}.")
    for block, channel in choice.channels.items():
        if block and block not in recording.children:
            raise InputError(
                f"channel (--channel) names {block}; this recording has {', '.join(map(str, recording.children))}."
            )
        for name in [block] if block else list(recording.children):
            known = [int(one) for one in recording[name].to_dataset().get("channel", ())]
            if channel not in known:
                raise InputError(f"channel (--channel) is {channel}; of {name} this recording has {shortened(known)}.")
    chosen = recording.copy()
    chosen.attrs = {
        **recording.attrs,
        MARK: json.dumps({"stimulus": choice.stimulus, "channels": dict(choice.channels)}),
    }
    return chosen


def shortened(values: Sequence[Any]) -> str:
    """List a few numbers.

    Examples
    --------
    >>> shortened([0, 1, 2]), shortened([*range(20)]), shortened([])
    ('0, 1, 2', '0, 1, 2, 3, 4, 5, 6, 7, ... (20 in all)', 'none')
    """
    shown = ", ".join(str(int(value)) for value in values[:8])
    return shown if 0 < len(values) <= 8 else f"{shown}, ... ({len(values)} in all)" if len(values) else "none"
