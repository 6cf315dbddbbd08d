"""Makes a person's own vector field ready for the solver."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["ModuleField"]


@dataclass(frozen=True)
class ModuleField:
    """A module f(t, h) with a scalar t, seen as the solver sees a field.

    Attributes
    ----------
    module : nn.Module
    """

    module: nn.Module

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt; images at different times are evaluated one by one."""
        if t.ndim == 0 or bool((t == t[0]).all()):
            slope: Tensor = self.module(t.reshape(-1)[0], h)
            return slope
        return torch.cat([self.module(t[i], h[i : i + 1]) for i in range(len(h))])

    def tensors(self) -> tuple[Tensor, ...]:
        """List the trainable parameters that dh/dt depends on."""
        return tuple(p for p in self.module.parameters() if p.requires_grad)
