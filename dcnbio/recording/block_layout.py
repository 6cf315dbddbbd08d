"""What one block of a recording will hold: times, the part of the maps that is stored, further numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.errors import RecordingError

__all__ = ["RECORDED_TIME", "BlockLayout", "VariableLayout", "frozen_array"]

DTYPES = ("float16", "float32", "float64")
RESERVED = ("stimulus", "label", "file", "class", "batch", "logits")
RECORDED_TIME = "recorded_time"
EXTRA_DIMS = ("time", "channel", "y", "x", "class", "other_stimulus")
BLOCK_VARIABLES = ("h", "nfe", "accepted", "rejected", "status", "reason", "step_time", "time", "channel", "y", "x")


def frozen_array(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Copy values into an array that cannot be changed."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


@dataclasses.dataclass(frozen=True)
class VariableLayout:
    """A further number per stimulus, for example a norm of h over time that is computed while solving.

    Parameters
    ----------
    name : str
        Name of the variable; not one that a block has anyway.
    dims : tuple of str
        Dimensions after ``stimulus``, from ``time``, ``channel``, ``y``, ``x``, ``class`` and ``other_stimulus``, which
        runs over all stimuli of the recording.
    dtype : str
        Type that is stored.
    long_name, units : str
        What it is, and its unit.

    Raises
    ------
    RecordingError
        If the name is taken or no identifier, or a dimension is none of these.

    Examples
    --------
    >>> VariableLayout("h_norm", ("time",), "float32", "Euclidean norm of h", "1").dims
    ('time',)
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    long_name: str
    units: str

    def __post_init__(self) -> None:
        """Refuse names and dimensions that a block cannot hold."""
        if not self.name.isidentifier() or self.name in BLOCK_VARIABLES + RESERVED:
            raise RecordingError(f"variable name {self.name!r} is taken or no identifier; choose another name")
        unknown = [dim for dim in self.dims if dim not in EXTRA_DIMS]
        if unknown:
            allowed = f"{', '.join(EXTRA_DIMS[:-1])} and {EXTRA_DIMS[-1]}"
            raise RecordingError(f"dims of {self.name} holds {unknown[0]!r}; allowed are {allowed}")


@dataclasses.dataclass(frozen=True, eq=False)
class BlockLayout:
    """One block of a recording: the times and the part of the feature maps that are stored.

    Parameters
    ----------
    name : str
        Name of the node, for example "block1".
    times : array_like [time], solver time
        Strictly ascending times at which h is recorded.
    shape : tuple of int (channel, y, x)
        Shape of the stored maps of one image at one time.
    channels : array_like of int [channel], optional
        Index of each stored channel in the block; empty for all, 0, 1, ...
    dtype : {"float32", "float64", "float16"}
        Type in which h is stored.
    store_h : bool
        False to keep the solver's counts and ``extra`` alone.
    origin : tuple of int (y, x), pixels
        Row and column of the first stored pixel when a spatial window is stored.
    extra : tuple of VariableLayout
        Further numbers per stimulus.
    accepted : bool
        True where h is recorded at the accepted steps, which are each image's own: `times` then counts them, 0, 1, ...,
        to the most there is room for, and a variable ``recorded_time`` (stimulus, time) says when they were.

    Raises
    ------
    RecordingError
        When a name, time, shape or type cannot be stored.

    Examples
    --------
    >>> block = BlockLayout("block1", [0.0, 1.0, 2.0], (32, 30, 30))
    >>> block.image_bytes
    345600
    """

    name: str
    times: npt.NDArray[np.float64]
    shape: tuple[int, int, int]
    channels: npt.NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))
    dtype: str = "float32"
    store_h: bool = True
    origin: tuple[int, int] = (0, 0)
    extra: tuple[VariableLayout, ...] = ()
    accepted: bool = False

    def __post_init__(self) -> None:
        """Copy the arrays, so that the layout cannot change, and check them."""
        if not self.name.isidentifier() or self.name in RESERVED:
            raise RecordingError(f"block name {self.name!r} cannot name a node; use a name such as 'block1'")
        times = frozen_array(self.times, np.float64)
        if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise RecordingError(f"times of {self.name} is {self.times!r}; give finite, strictly ascending times")
        shape = tuple(int(size) for size in self.shape)
        if len(shape) != 3 or min(shape) < 1:
            raise RecordingError(f"shape of {self.name} is {self.shape!r}; give (channel, y, x), each at least 1")
        channels = frozen_array(self.channels if np.size(self.channels) else np.arange(shape[0]), np.int64)
        if channels.shape != shape[:1] or np.unique(channels).size != channels.size:
            raise RecordingError(
                f"channels of {self.name} must be {shape[0]} different indices, one per stored channel"
            )
        if self.dtype not in DTYPES:
            raise RecordingError(f"dtype of {self.name} is {self.dtype!r}; allowed are {', '.join(DTYPES)}")
        names = [variable.name for variable in self.extra]
        if len(set(names)) != len(names):
            raise RecordingError(f"extra variables of {self.name} share a name: {', '.join(names)}")
        if self.accepted != (RECORDED_TIME in names):
            raise RecordingError(
                f"{self.name} needs the variable {RECORDED_TIME} where, and only where, it is accepted"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "channels", channels)

    @property
    def sizes(self) -> dict[str, int]:
        """Length of every dimension but ``stimulus``."""
        channel, y, x = self.shape
        return {"time": int(self.times.size), "channel": channel, "y": y, "x": x}

    @property
    def image_bytes(self) -> int:
        """Bytes of one image's h."""
        return int(np.prod(list(self.sizes.values()))) * np.dtype(self.dtype).itemsize if self.store_h else 0
