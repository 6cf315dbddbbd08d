"""The flow of a changed image whose group norms use the statistics of the intact image."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.vector_field import ConvField

__all__ = ["FrozenPair", "frozen_change", "solve_pair"]


def statistics(norm: nn.GroupNorm, h: Tensor) -> tuple[Tensor, Tensor]:
    """Give mean and standard deviation of each image and group, shape (n, groups, 1)."""
    rows = h.reshape(len(h), norm.num_groups, -1)
    variance, mean = torch.var_mean(rows, dim=2, correction=0, keepdim=True)
    return mean, torch.sqrt(variance + norm.eps)


def normalised(norm: nn.GroupNorm, h: Tensor, found: tuple[Tensor, Tensor]) -> Tensor:
    """Apply a group norm with given statistics."""
    mean, deviation = found
    rows = ((h.reshape(len(h), norm.num_groups, -1) - mean) / deviation).reshape(h.shape)
    if not norm.affine:
        return rows
    return rows * norm.weight[:, None, None] + norm.bias[:, None, None]


class FrozenPair(nn.Module):
    """The vector field of an intact and a changed image side by side, both normalised by the intact one's statistics.

    Parameters
    ----------
    field : ConvField
    frozen : bool
        Whether the statistics are the intact image's; otherwise each has its own, which is eq. 2 twice.

    Notes
    -----
    The state is (n, 2 c, y, x): c channels intact, c channels changed. What then moves outside a mask's place is what
    the kernels carry there: statistics, which every position shares, carry nothing.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> field = build("dcn-ode", widths=(4,), norm_groups=2).block(1).field
    >>> h = torch.randn(1, 4, 5, 5, generator=torch.Generator().manual_seed(0))
    >>> slope = FrozenPair(field)(torch.tensor(0.0), torch.cat([h, h], 1))
    >>> bool(torch.allclose(slope[:, 4:], field(torch.tensor(0.0), h), atol=1e-6))
    True
    """

    def __init__(self, field: ConvField, frozen: bool = True) -> None:
        super().__init__()
        self.field, self.frozen = field, frozen

    def pair(self, norm: nn.GroupNorm, intact: Tensor, changed: Tensor) -> tuple[Tensor, Tensor]:
        """Normalise both."""
        own = statistics(norm, intact)
        return normalised(norm, intact, own), normalised(
            norm, changed, own if self.frozen else statistics(norm, changed)
        )

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate both slopes at the scalar solver time `t`."""
        field, maps = self.field, h.chunk(2, 1)
        prepared = field.prepare(maps[0]).convs
        for number, norm in enumerate((field.norm1, field.norm2)):
            intact, changed = (field.activation(part) for part in self.pair(norm, *maps))
            if prepared is None:
                kernel = field.convs[number].kernel(t)
                maps = tuple(convolved(field, number, kernel, t, part) for part in (intact, changed))
            else:
                maps = tuple(prepared[number](t, part) for part in (intact, changed))
        return torch.cat(self.pair(field.norm3, *maps), 1)


def convolved(field: ConvField, number: int, kernel: Tensor, t: Tensor, maps: Tensor) -> Tensor:
    """Convolve maps and the plane t with a kernel that was built for this time."""
    plane = t.to(maps).expand(len(maps), 1, *maps.shape[2:])
    return nn.functional.conv2d(torch.cat([plane, maps], 1), kernel, padding=(kernel.shape[-1] - 1) // 2)


def solve_pair(
    block: ODEBlock, intact: Tensor, changed: Tensor, solver: SolverSettings, frozen: bool
) -> tuple[Tensor, Tensor]:
    """Integrate a block from the inputs of an intact and a changed image; give both h(T)."""
    if not isinstance(block.field, ConvField):
        raise TypeError("a vector field of one's own has no group norms to freeze")  # the caller leaves it out
    start = torch.cat([intact, changed], 1).contiguous()
    times = solve_times(2, block.integration_time)
    ends = solve(FrozenPair(block.field, frozen), start, times, solver).final.chunk(2, 1)
    return ends[0], ends[1]


def frozen_change(intact: Tensor, changed: Tensor, groups: int) -> Tensor:
    """Give the difference of maps in units of the intact map's standard deviation, per image and group."""
    deviation = statistics(nn.GroupNorm(groups, intact.shape[1], affine=False), intact)[1]
    rows = (changed - intact).reshape(len(intact), groups, -1) / deviation
    return rows.reshape(intact.shape)
