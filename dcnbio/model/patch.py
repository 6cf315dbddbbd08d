"""Interventions on the hidden state: at a solver time, part of h becomes something else and the solve goes on."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["HOW", "Patch"]

HOW = ("set", "scale", "ablate", "replace")


@dataclass(frozen=True, eq=False)
class Patch:
    """Change part of a block's h at a solver time, and integrate on from there.

    Attributes
    ----------
    block : int
        1, 2, ...
    time : float
        Solver time from 0 to the block's T; the time channel goes on at it. At T the next layer reads the changed h.
    how : {"set", "scale", "ablate", "replace"}
        The part becomes `value`, is multiplied by it, becomes 0, or becomes the same part of other maps of the block.
    value : number, array or Tensor, optional
        For "set" and "scale" a number, one number per chosen channel, or an array that broadcasts to the chosen
        channels (n, channel, y, x). For "replace" whole maps of the block, (n, channel, y, x) or (channel, y, x);
        `dcnbio.probe` takes another recording as well. None for "ablate".
    channels : sequence of int, optional
        Indices of the channels that are changed; all by default.
    region : bool array [y, x], or (slice, slice), optional
        Positions of the map that are changed; all by default.

    Raises
    ------
    InputError
        If a value is not allowed.

    Notes
    -----
    h at the patch's own time is recorded as it is afterwards. Zero is a value like others: where channels share a
    group, group norm makes those beside an ablated one louder, so "ablate" removes a channel and rescales neighbours.

    Examples
    --------
    >>> half = Patch(block=2, time=0.5, how="scale", value=0.5, channels=[0])
    >>> half.applied(torch.ones(1, 2, 1, 1)).flatten().tolist()
    [0.5, 1.0]
    """

    block: int
    time: float
    how: str = "set"
    # not shown: it may be maps of thousands of images
    value: Any = field(default=None, repr=False)
    channels: Sequence[int] | None = None
    region: Any = None

    def __post_init__(self) -> None:
        """Refuse what no network could do; sizes are checked against the maps."""
        count("block of a patch", self.block, 1)
        if self.how not in HOW:
            raise InputError(f"how of a patch is {self.how!r}; allowed are {', '.join(HOW)}.")
        if (self.value is None) != (self.how == "ablate"):
            need = "takes no value: it sets h to 0" if self.how == "ablate" else "needs a value"
            raise InputError(f"value of a patch is {self.value!r}, but {self.how!r} {need}.")
        if not (math.isfinite(self.time) and self.time >= 0):
            raise InputError(f"time of a patch is {self.time}; it must be a solver time from 0 to the block's T.")
        if self.channels is not None:
            object.__setattr__(self, "channels", chosen_channels(self.channels))

    def check(self, end: float, *, ends_only: bool) -> None:
        """Refuse a time that the block does not have."""
        if self.time > end:
            raise InputError(f"time of a patch is {self.time:g}; block {self.block} runs from 0 to {end:g}.")
        if ends_only and self.time not in (0.0, end):
            raise InputError(
                f"time of a patch is {self.time:g}; a residual block has an input (0) and an output ({end:g}) alone."
            )

    def positions(self, size: tuple[int, int]) -> Tensor:
        """Give the region as a mask of positions, bool (y, x)."""
        if self.region is None:
            return torch.ones(size, dtype=torch.bool)
        if isinstance(self.region, tuple):
            if len(self.region) != 2 or not all(isinstance(part, slice) for part in self.region):
                raise InputError(f"region of a patch is {self.region!r}; give two slices, of rows and of columns.")
            edges = [(part.start, part.stop, most) for part, most in zip(self.region, size, strict=True)]
            if not all(within(start, most) and within(stop, most) for start, stop, most in edges):
                raise InputError(
                    f"region of a patch is {', '.join(f'{start}:{stop}' for start, stop, _ in edges)}, but block "
                    f"{self.block} has maps of {size[0]} x {size[1]}; give whole numbers of rows and columns in them."
                )
            mask = torch.zeros(size, dtype=torch.bool)
            mask[self.region] = True
        else:
            mask = torch.as_tensor(self.region)
        if mask.dtype != torch.bool or tuple(mask.shape) != size or not bool(mask.any()):
            raise InputError(
                f"region of a patch is {tuple(mask.shape)} of {mask.dtype} with {int((mask != 0).sum())} positions; "
                f"block {self.block} has maps of {size[0]} x {size[1]}, so give a boolean mask of that size or two "
                "slices, with one position at least."
            )
        return mask

    def applied(self, h: Tensor) -> Tensor:
        """Give h, shape (n, c, y, x), with the part changed; `h` itself stays."""
        chosen = torch.arange(h.shape[1]) if self.channels is None else torch.tensor(self.channels)
        if int(chosen.max()) >= h.shape[1]:
            raise InputError(
                f"channels of a patch has {int(chosen.max())}; block {self.block} has channels 0 to {h.shape[1] - 1}."
            )
        chosen = chosen.to(h.device)
        part = h.index_select(1, chosen)
        if self.how == "ablate":
            changed = torch.zeros_like(part)
        elif self.how == "replace":
            changed = fitted(self.value, h).index_select(1, chosen)
        else:
            value = fitted(per_channel(self.value), part)
            changed = value if self.how == "set" else part * value
        mask = self.positions((h.shape[2], h.shape[3])).to(h.device)
        return h.index_copy(1, chosen, torch.where(mask, changed, part))


def within(edge: Any, most: int) -> bool:
    """Whether an edge of a region lies on the map, whose other side Python would take in silence."""
    return edge is None or (isinstance(edge, int | np.integer) and abs(int(edge)) <= most)


def chosen_channels(channels: Sequence[int]) -> tuple[int, ...]:
    """Take indices of channels, each once."""
    try:
        found = tuple(operator.index(channel) for channel in channels)
    except TypeError:
        raise InputError(f"channels of a patch is {channels!r}; give a list of whole numbers from 0.") from None
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise InputError(f"channels of a patch is {list(found)}; give one index or more, from 0, each once.")
    return found


def per_channel(value: Any) -> Tensor:
    """Let a list of numbers run along the channels."""
    tensor = value if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))
    return tensor[:, None, None] if tensor.ndim == 1 else tensor


def fitted(value: Any, like: Tensor) -> Tensor:
    """Broadcast a value to maps such as `like`."""
    tensor = (value if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))).to(like)
    try:
        return tensor.expand_as(like)
    except RuntimeError as error:
        raise InputError(
            f"value of a patch has shape {tuple(tensor.shape)}, which does not broadcast to the maps it changes, "
            f"(image, channel, y, x) = {tuple(like.shape)}; give a number, one per channel, or maps of that shape."
        ) from error
