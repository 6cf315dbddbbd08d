"""A vector field whose eps and time term are scaled along with contrast, by changing its weights alone."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = ["ClockedField", "scaled_field", "scaled_norm"]


class ClockedField(nn.Module):
    """f(rate t, h): a field read by another clock.

    Parameters
    ----------
    field : nn.Module
    rate : float

    Examples
    --------
    >>> class Time(nn.Module):
    ...     def forward(self, t, h):
    ...         return t + 0 * h
    >>> ClockedField(Time(), 10.0)(torch.tensor(0.5), torch.zeros(1)).tolist()
    [5.0]
    """

    def __init__(self, field: nn.Module, rate: float) -> None:
        super().__init__()
        self.field, self.rate = field, rate

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate the field at its own time."""
        slope: Tensor = self.field(self.rate * t, h)
        return slope


def kernel_weights(conv: FieldConv) -> list[tuple[Tensor, int]]:
    """List what a kernel is linear in, with the axis of the input channels."""
    if isinstance(conv, PixelConv2d):
        return [(conv.weight, 1)]
    return [(weights, 1) for weights in conv.alpha.parameters()]


def scaled_norm(norm: nn.GroupNorm, c: float) -> nn.GroupNorm:
    """Copy a norm so that it does with c h what it did with h: eps becomes c^2 eps.

    Examples
    --------
    >>> norm, h = nn.GroupNorm(2, 2), torch.randn(1, 2, 3, 3, generator=torch.Generator().manual_seed(0))
    >>> torch.allclose(scaled_norm(norm, 0.01)(0.01 * h), norm(h), atol=1e-6)
    True
    """
    changed = copy.deepcopy(norm)
    changed.eps = norm.eps * c**2
    return changed


@torch.no_grad()
def scaled_field(field: nn.Module, *, eps: float = 1.0, time_term: float = 1.0) -> nn.Module:
    """Copy a field so that its first norm takes c^2 eps, and its time term is read at t / c.

    The compiled engine has one eps for the three norms of a field, of which only the first sees h. So all take c^2 eps
    and both convolutions are multiplied by c: to the second and third norm, eps is then what it was. The time channel
    is divided by c, which is the same as reading it at t / c.

    Parameters
    ----------
    field : nn.Module
        Of eq. 2.
    eps, time_term : float
        c of each; 1 leaves it.

    Returns
    -------
    nn.Module
        A copy; the field itself where nothing changes. Filters that depend on time are read by another clock, in plain
        torch.

    Raises
    ------
    InputError
        If the field is a person's own, of which it is not known where eps and time are.

    Examples
    --------
    >>> import dcnbio
    >>> field = dcnbio.build("dcn-ode", widths=(4,)).block(1).field
    >>> h = torch.randn(1, 4, 9, 9, generator=torch.Generator().manual_seed(0))
    >>> t = torch.tensor(0.5)
    >>> torch.allclose(scaled_field(field, eps=0.01, time_term=0.01)(0.01 * t, 0.01 * h), field(t, h), atol=1e-4)
    True
    """
    if eps == 1 and time_term == 1:
        return field
    if not isinstance(field, ConvField):
        raise InputError(
            f"the vector field is a {type(field).__name__}, of which it is not known where eps and the time term are; "
            "the scaling law is checked for the paper's field (eq. 2)."
        )
    changed = copy.deepcopy(field)
    clocked = time_term != 1 and any(conv.time_dependent for conv in changed.convs)
    for norm in changed.norms:
        norm.eps *= eps**2
    for conv in changed.convs:
        for weights, axis in kernel_weights(conv):
            weights.mul_(eps)
            if not clocked:
                weights.select(axis, 0).div_(time_term)
        if isinstance(conv, PixelConv2d) and conv.bias is not None:
            conv.bias.mul_(eps)
    return ClockedField(changed, 1 / time_term) if clocked else changed
