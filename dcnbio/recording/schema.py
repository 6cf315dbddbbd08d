"""What a recording will hold, stated before it is computed: stimuli, blocks and the grid of batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dcnbio.errors import RecordingError
from dcnbio.recording.block_layout import RECORDED_TIME, BlockLayout, VariableLayout, frozen_array
from dcnbio.stored_text import stored_text

__all__ = ["RECORDED_TIME", "STATUSES", "BlockLayout", "RecordingLayout", "VariableLayout"]

STATUSES = ("ok", "max_steps", "max_evaluations", "step_underflow", "non_finite")
"""Default names of the status codes 0, 1, 2, ... of an integrated image; code 0 always means success."""


@dataclasses.dataclass(frozen=True, eq=False)
class RecordingLayout:
    """A whole recording: its stimuli, blocks and the grid of batches, whose boundaries are fixed by position.

    Batch k holds the stimuli at positions ``k * batch_size`` to ``(k + 1) * batch_size - 1``, whoever computes it and
    whenever, so an interrupted recording goes on with the same batches.

    Parameters
    ----------
    stimulus : array_like of int [stimulus]
        Index of each image in its source, all different.
    labels : array_like of int [stimulus]
        Class of each image, -1 where unknown.
    files : sequence of str [stimulus]
        File of each image. What of a name is no UTF-8 becomes a question mark, here and in the class names.
    class_names : sequence of str [class]
        Name of each class, in the order of the logits.
    blocks : sequence of BlockLayout
        The blocks that are recorded; may be empty.
    batch_size : int
        Number of images in a batch; the last one may be shorter.
    nfe_per : {"image", "batch"}
        Whose steps the function evaluations count: an image's own, or those a batch shares.
    statuses : tuple of str
        Names of the status codes; the first means success.

    Raises
    ------
    RecordingError
        When lengths disagree or names repeat.

    Examples
    --------
    >>> block = BlockLayout("block1", [0.0, 2.0], (4, 3, 3))
    >>> layout = RecordingLayout([0, 1, 2], [5, 3, -1], ["a.png", "b.png", "c.png"], ["cat", "dog"], [block], 2)
    >>> layout.batches, [layout.batch(k) for k in range(2)]
    (2, [slice(0, 2, None), slice(2, 3, None)])
    """

    stimulus: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    files: Sequence[str]
    class_names: Sequence[str]
    blocks: Sequence[BlockLayout]
    batch_size: int
    nfe_per: str = "image"
    statuses: tuple[str, ...] = STATUSES

    def __post_init__(self) -> None:
        """Copy the arrays, so that the layout cannot change, and check them."""
        for name, dtype in (("stimulus", np.int64), ("labels", np.int64)):
            object.__setattr__(self, name, frozen_array(getattr(self, name), dtype))
        for name in ("files", "class_names"):
            object.__setattr__(self, name, tuple(stored_text(text) for text in getattr(self, name)))
        for name in ("blocks", "statuses"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n = self.stimulus.size
        if n == 0 or self.stimulus.ndim != 1 or np.unique(self.stimulus).size != n:
            raise RecordingError("stimulus must hold at least one image index, each once; drop the repeated images")
        for name in ("labels", "files"):
            if len(getattr(self, name)) != n:
                raise RecordingError(f"{name} has {len(getattr(self, name))} entries for {n} stimuli; give one each")
        if self.batch_size < 1:
            raise RecordingError(f"batch_size is {self.batch_size}; give at least 1")
        if self.nfe_per not in ("image", "batch"):
            raise RecordingError(f"nfe_per is {self.nfe_per!r}; allowed are 'image' and 'batch'")
        names = [block.name for block in self.blocks]
        if len(set(names)) != len(names):
            raise RecordingError(f"blocks share a name: {', '.join(names)}; name each block once")
        if not 1 <= len(self.statuses) <= 128:
            raise RecordingError(f"statuses has {len(self.statuses)} names; give 1 to 128")

    @property
    def n(self) -> int:
        """Number of stimuli."""
        return int(self.stimulus.size)

    def sizes(self, block: BlockLayout) -> dict[str, int]:
        """Length of every dimension that a variable of a block may have after ``stimulus``."""
        return {**block.sizes, "class": len(self.class_names), "other_stimulus": self.n}

    @property
    def batches(self) -> int:
        """Number of batches, the last of which may be shorter."""
        return -(-self.n // self.batch_size)

    def batch(self, index: int) -> slice:
        """Positions of the stimuli of one batch.

        Parameters
        ----------
        index : int
            Index of the batch, 0 to ``batches - 1``.

        Returns
        -------
        slice
            Its positions along ``stimulus``.
        """
        if not 0 <= index < self.batches:
            raise RecordingError(f"batch {index} does not exist; this recording has {self.batches}, from 0")
        return slice(index * self.batch_size, min(self.n, (index + 1) * self.batch_size))
