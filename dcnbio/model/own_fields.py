"""A person's own vector fields, one for each block of a network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from torch import nn

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec

__all__ = ["FieldMaker", "own_fields"]

FieldMaker = nn.Module | Sequence[nn.Module] | Callable[[int], nn.Module]


def own_fields(maker: FieldMaker, spec: NetworkSpec) -> tuple[list[nn.Module], NetworkSpec]:
    """Make one vector field per block of a spec, and the spec that names them.

    Parameters
    ----------
    maker : nn.Module, sequence of nn.Module or callable
        One module that is copied for every block, one per block, or a function of the number of channels.
    spec : NetworkSpec

    Returns
    -------
    list of nn.Module
    NetworkSpec

    Raises
    ------
    InputError
        If the spec has residual blocks, or there is not one module for each block.

    Examples
    --------
    >>> fields, spec = own_fields(nn.Identity(), NetworkSpec(row="mine", widths=(8, 16)))
    >>> len(fields), spec.vector_field
    (2, 'torch.nn.modules.linear.Identity')
    """
    if spec.depth != "ode":
        raise InputError(f"vector_field is given, but {spec.row} has residual blocks; choose a row with ODE blocks.")
    made = fields_of(maker, spec.widths)
    name = f"{type(made[0]).__module__}.{type(made[0]).__qualname__}"
    return made, NetworkSpec.from_dict({**spec.to_dict(), "vector_field": name})


def fields_of(maker: FieldMaker, widths: tuple[int, ...]) -> list[nn.Module]:
    """Make the fields, and refuse what is not one module for each block."""
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
