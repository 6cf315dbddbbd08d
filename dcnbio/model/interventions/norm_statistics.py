"""Group norms with given statistics, or with their own but without their gradient, and the clock that fields set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError

__all__ = ["Clock", "ClockedField", "FixedNorm", "HeldNorm", "LentNorm", "Moments", "group_moments", "group_norms"]


@dataclass
class Clock:
    """The solver time at which a field is being evaluated, for the norms inside it."""

    time: float = 0.0


@dataclass
class Moments:
    """Mean and variance of each channel's group at several solver times, over reference images."""

    times: list[float] = field(default_factory=list)
    mean: list[Tensor] = field(default_factory=list)
    variance: list[Tensor] = field(default_factory=list)

    def add(self, time: float, mean: Tensor, variance: Tensor) -> None:
        """Take note of the moments (n, c) of the reference images at a time."""
        self.times.append(time)
        self.mean.append(mean.mean(0))
        self.variance.append(variance.mean(0))


def group_moments(norm: nn.GroupNorm, x: Tensor) -> tuple[Tensor, Tensor]:
    """Give mean and variance of each channel's group, each (n, c), of maps (n, c, y, x)."""
    grouped = x.reshape(len(x), norm.num_groups, -1)
    repeat = x.shape[1] // norm.num_groups
    mean, variance = grouped.mean(2), grouped.var(2, correction=0)
    return mean.repeat_interleave(repeat, 1), variance.repeat_interleave(repeat, 1)


class FixedNorm(nn.Module):
    """A group norm that uses given means and variances instead of the image's.

    Parameters
    ----------
    norm : nn.GroupNorm
        Gives weight, bias and eps.
    moments : Moments
        At one or more times, between which they are interpolated linearly.
    clock : Clock
        Says what time it is.
    """

    def __init__(self, norm: nn.GroupNorm, moments: Moments, clock: Clock) -> None:
        super().__init__()
        self.weight, self.bias, self.eps, self.clock = norm.weight, norm.bias, norm.eps, clock
        self.times = list(moments.times)
        self.register_buffer("mean", torch.stack(moments.mean))
        self.register_buffer("variance", torch.stack(moments.variance))

    def between(self, values: Tensor, time: float) -> Tensor:
        """Interpolate (k, c) at a time."""
        later = next((i for i, known in enumerate(self.times) if known >= time), len(self.times) - 1)
        if later == 0 or self.times[later] <= time:
            return values[later]
        share = (time - self.times[later - 1]) / (self.times[later] - self.times[later - 1])
        return values[later - 1] + share * (values[later] - values[later - 1])

    def at(self, x: Tensor, time: float) -> Tensor:
        """Normalise maps (n, c, y, x) at a solver time."""
        mean, variance = (self.between(getattr(self, name), time) for name in ("mean", "variance"))
        scale = self.weight / torch.sqrt(variance + self.eps)
        return torch.addcmul((self.bias - mean * scale)[..., None, None], x, scale[..., None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Normalise maps at the clock's time."""
        return self.at(x, self.clock.time)


class HeldNorm(nn.Module):
    """A group norm with the image's statistics, through which no gradient flows: a unit's local dependence alone.

    Parameters
    ----------
    norm : nn.GroupNorm
    """

    def __init__(self, norm: nn.GroupNorm) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        """Normalise maps (n, c, y, x)."""
        mean, variance = group_moments(self.norm, x.detach())
        scale = self.norm.weight / torch.sqrt(variance + self.norm.eps)
        held: Tensor = (x - mean[..., None, None]) * scale[..., None, None] + self.norm.bias[:, None, None]
        return held


class LentNorm(nn.Module):
    """A group norm of batches in equal parts, in which image i of the first part lends its statistics to the others'.

    Parameters
    ----------
    norm : nn.GroupNorm
    parts : int
    """

    def __init__(self, norm: nn.GroupNorm, parts: int) -> None:
        super().__init__()
        self.norm, self.parts = norm, parts

    def forward(self, x: Tensor) -> Tensor:
        """Normalise maps (parts * n, c, y, x)."""
        if len(x) % self.parts:
            raise InputError(
                f"a batch of {len(x)} has no {self.parts} equal parts, of which the first lends its norms; give as "
                "many images of each part, and shared stepping, which keeps them together."
            )
        mean, variance = group_moments(self.norm, x[: len(x) // self.parts])
        scale = self.norm.weight / torch.sqrt(variance + self.norm.eps)
        shift = (self.norm.bias - mean * scale).repeat(self.parts, 1)
        return torch.addcmul(shift[..., None, None], x, scale.repeat(self.parts, 1)[..., None, None])


class ClockedField(nn.Module):
    """A vector field that tells its norms the time."""

    def __init__(self, inner: nn.Module, clock: Clock) -> None:
        super().__init__()
        self.inner, self.clock = inner, clock

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at the scalar solver time `t`."""
        self.clock.time = float(t)
        slope: Tensor = self.inner(t, h)
        return slope


def group_norms(module: nn.Module) -> Iterator[tuple[nn.Module, str, nn.GroupNorm]]:
    """List the group norms inside a module with their owners and names, in a fixed order."""
    for owner in list(module.modules()):
        for name, child in list(owner.named_children()):
            if isinstance(child, nn.GroupNorm):
                yield owner, name, child
