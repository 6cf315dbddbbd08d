"""What the probe hands over: one batch of images, block by block, as NumPy arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

__all__ = ["Batch", "BlockBatch"]


@dataclasses.dataclass(frozen=True, eq=False)
class BlockBatch:
    """What one block did with one batch of images.

    Parameters
    ----------
    h : array [image, time, channel, y, x] or None
        Hidden state; NaN for an image whose solve failed. None where the layout stores no h.
    nfe, accepted, rejected : array_like of int [image]
        Function evaluations, accepted and rejected steps; with shared stepping the batch's, repeated for each image.
    status : array_like of int [image]
        Index into the layout's ``statuses``; 0 is success.
    step_times : sequence of array [step], solver time
        For each image, the time that each accepted step reached.
    reasons : sequence of str [image]
        Why a status is not 0; empty otherwise. An empty sequence means no reasons.
    extra : mapping of str to array [image, ...]
        The layout's extra variables.

    Examples
    --------
    >>> BlockBatch(None, nfe=[14], accepted=[2], rejected=[0], status=[0], step_times=[[0.5, 2.0]]).reasons
    ()
    """

    h: npt.NDArray[Any] | None
    nfe: npt.ArrayLike
    accepted: npt.ArrayLike
    rejected: npt.ArrayLike
    status: npt.ArrayLike
    step_times: Sequence[npt.ArrayLike]
    reasons: Sequence[str] = ()
    extra: Mapping[str, npt.NDArray[Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """The record of one batch of images.

    Parameters
    ----------
    first : int
        Position of its first image along ``stimulus``, a multiple of the layout's ``batch_size``.
    logits : array [image, class]
        Class scores; NaN for an image that failed.
    blocks : mapping of str to BlockBatch
        One entry per block of the layout.

    Examples
    --------
    >>> import numpy as np
    >>> Batch(0, np.zeros((1, 10)), {}).logits.shape
    (1, 10)
    """

    first: int
    logits: npt.NDArray[Any]
    blocks: Mapping[str, BlockBatch]
