"""Which image, channel and times of a recording a figure shows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.figures.choice import choice_of
from dcnbio.figures.names import block_title, listed

__all__ = [
    "blocks_with_maps",
    "channel_text",
    "chosen_channel",
    "chosen_stimulus",
    "chosen_times",
    "shown_channel",
    "stimuli_of",
    "stimulus_text",
]


def blocks_with_maps(recording: xr.DataTree) -> dict[str, xr.Dataset]:
    """Give the blocks whose maps were recorded at common times.

    Raises
    ------
    InputError
        If there is none.
    """
    found = {}
    for name, node in recording.children.items():
        data = node.to_dataset()
        if "h" in data and "time" in data.coords:
            found[name] = data
    if not found:
        raise InputError(
            "this recording holds no maps h at common times; record some with dcnbio probe --times 21, without "
            "--no-maps."
        )
    return found


def solved_everywhere(recording: xr.DataTree) -> npt.NDArray[np.bool_]:
    """Say of each image whether every block solved it."""
    solved = np.ones(recording.sizes["stimulus"], dtype=bool)
    for node in recording.children.values():
        solved &= node["status"].values == 0
    return solved


def chosen_stimulus(recording: xr.DataTree) -> int:
    """Give the position of the image that was asked for, else of the first that every block solved.

    Raises
    ------
    InputError
        If there is none.
    """
    solved, wanted = solved_everywhere(recording), choice_of(recording).stimulus
    if not solved.any():
        raise InputError("no image of this recording was solved in every block; record with more steps (--max-steps).")
    if wanted is None:
        return int(solved.argmax())
    position = int(np.flatnonzero(stimuli_of(recording) == wanted)[0])
    if not solved[position]:
        raise InputError(f"stimulus (--stimulus) is {wanted}, an image that some block did not solve; choose another.")
    return position


def stimuli_of(recording: xr.DataTree) -> npt.NDArray[np.int64]:
    """Give the index of each image in its source."""
    return np.asarray(recording.to_dataset()["stimulus"].values, dtype=np.int64)


def chosen_channel(h: xr.DataArray) -> int:
    """Give the position of the channel with the widest range over the map at the last time.

    Parameters
    ----------
    h : xarray.DataArray, dimensions (time, channel, y, x)
    """
    last = h.isel(time=-1)
    span = last.max(("y", "x")) - last.min(("y", "x"))
    return int(span.values.argmax())


def shown_channel(recording: xr.DataTree, block: str) -> int:
    """Give the position of the channel that was asked for in a block with maps, else of that with the widest range."""
    h = recording.children[block].to_dataset()["h"]
    wanted = choice_of(recording).channel_of(block)
    if wanted is not None:
        return int(np.flatnonzero(h["channel"].values == wanted)[0])
    return chosen_channel(h.isel(stimulus=chosen_stimulus(recording)))


def stimulus_text(recording: xr.DataTree) -> str:
    """Say how the image was chosen, for a caption."""
    return "the first that was solved" if choice_of(recording).stimulus is None else "chosen by its number"


def asked_text(channels: Mapping[str, int]) -> str:
    """Say which channels were asked for by their numbers, blocks with the same one together.

    Examples
    --------
    >>> asked_text({"block1": 5, "block2": 5})
    'In block 1 and block 2 channel 5 is shown, chosen by its number.'
    >>> asked_text({"block1": 3, "block2": 11})
    'In block 1 channel 3 and in block 2 channel 11 are shown, chosen by their numbers.'
    """
    together: dict[int, list[str]] = {}
    for block, channel in channels.items():
        together.setdefault(channel, []).append(block_title(block))
    where = listed([f"in {listed(blocks)} channel {channel}" for channel, blocks in together.items()])
    how = "is shown, chosen by its number" if len(together) == 1 else "are shown, chosen by their numbers"
    return f"{where[0].upper()}{where[1:]} {how}."


def channel_text(recording: xr.DataTree) -> str:
    """Say how the channel of each block was chosen, for a caption."""
    choice, blocks = choice_of(recording), blocks_with_maps(recording)
    asked = {name: channel for name in blocks if (channel := choice.channel_of(name)) is not None}
    others = {name: str(data.sizes["channel"]) for name, data in blocks.items() if name not in asked}
    said = [asked_text(asked)] if asked else []
    if others:
        where = f"In {listed([block_title(name) for name in others])}" if asked else "In each block"
        said.append(
            f"{where} the channel of {', '.join(others.values())} recorded with the widest range at the last time is "
            "shown."
        )
    return " ".join(said)


def chosen_times(count: int, most: int) -> list[int]:
    """Spread positions evenly over the recorded times, first and last among them.

    Examples
    --------
    >>> chosen_times(21, 6), chosen_times(2, 6)
    ([0, 4, 8, 12, 16, 20], [0, 1])
    """
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most)).round()})
