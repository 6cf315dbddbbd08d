"""A person's own vector fields, one for each block of a network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from torch import nn

from dcnbio.errors import InputError

__all__ = ["FieldMaker", "own_fields"]

FieldMaker = nn.Module | Sequence[nn.Module] | Callable[[int], nn.Module]


def own_fields(maker: FieldMaker, widths: tuple[int, ...]) -> list[nn.Module]:
    """Make one vector field per block of a module, a list of modules or a function of the channels.

    Examples
    --------
    >>> len(own_fields(nn.Identity(), (8, 16)))
    2
    """
    if isinstance(maker, nn.Module) and not isinstance(maker, nn.ModuleList):
        return [copy.deepcopy(maker) for _ in widths]
    made = (
        [maker(width) for width in widths] if callable(maker) and not isinstance(maker, nn.ModuleList) else list(maker)
    )
    if len(made) != len(widths) or not all(isinstance(field, nn.Module) for field in made):
        raise InputError(
            f"vector_field gives {len(made)} fields for {len(widths)} blocks; give one module f(t, h), a list of one "
            "module per block, or a function of the number of channels that makes one."
        )
    return made
