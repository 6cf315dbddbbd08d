"""How far an experiment is from contrast 1: on group-normalised maps and on logits, per image."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.model.device import double

__all__ = ["logit_deviation", "map_deviation", "normalised", "zero_variance_groups"]


def grouped(h: Tensor, groups: int) -> Tensor:
    """Lay maps out as (n, groups, values of a group), in float64."""
    return double(h).reshape(len(h), groups, -1)


def zero_variance_groups(h: Tensor, groups: int) -> int:
    """Count groups whose values are all the same: without eps their norm does not exist."""
    values = grouped(h, groups)
    return int((values.amax(-1) == values.amin(-1)).sum())


def normalised(h: Tensor, groups: int) -> Tensor:
    """Give maps with mean 0 and mean square 1 in each group, 0 where a group is constant, shape (n, groups, values).

    Examples
    --------
    >>> normalised(torch.tensor([[[[1.0, 3.0]], [[5.0, 5.0]]]]), 2).tolist()
    [[[-1.0, 1.0], [0.0, 0.0]]]
    """
    values = grouped(h, groups)
    centred = values - values.mean(-1, keepdim=True)
    size = centred.square().mean(-1, keepdim=True).sqrt()
    return torch.where(size > 0, centred / size.where(size > 0, 1.0), 0.0)


def map_deviation(h: Tensor, reference: Tensor, groups: int) -> Tensor:
    """Give the root mean square difference of group-normalised maps, shape (n,): 0 to 2."""
    return (normalised(h, groups) - normalised(reference, groups)).square().flatten(1).mean(1).sqrt()


def logit_deviation(logits: Tensor, reference: Tensor) -> Tensor:
    """Give |logits - reference| / |reference - its mean|, shape (n,).

    Examples
    --------
    >>> logit_deviation(torch.tensor([[1.0, -2.0]]), torch.tensor([[1.0, -1.0]])).tolist()
    [0.7071067811865475]
    """
    true = double(reference)
    spread = (true - true.mean(1, keepdim=True)).norm(dim=1)
    found: Tensor = (double(logits) - true).norm(dim=1) / spread
    return found
