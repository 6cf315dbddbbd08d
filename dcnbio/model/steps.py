"""Steps a vector field by plain torch operations, forwards and, for gradients, backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from dcnbio.model.dormand_prince import Attempt, dense_weights, midpoint, stages, step

__all__ = ["DifferentiableField", "StepGradient", "TorchSteps", "gradients_where_wanted"]


class DifferentiableField(Protocol):
    """A vector field that says which tensors it depends on."""

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at time `t`, a scalar or one per image."""

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of."""


@dataclass(frozen=True)
class StepGradient:
    """What is known of the loss at the far side of a step.

    Attributes
    ----------
    end : Tensor or None, shape (n, ...)
        Gradient with respect to the step's end state; None where nothing beyond the step matters.
    inside : tuple of (Tensor of shape (n,), Tensor of shape (n, ...))
        For each output time in the step: its fraction of the step, per image, and the gradient with respect to it.
    """

    end: Tensor | None
    inside: tuple[tuple[Tensor, Tensor], ...]


def gradients_where_wanted(
    outputs: Sequence[Tensor], sources: tuple[Tensor, ...], gradients: Sequence[Tensor | None], *, keep: bool = False
) -> tuple[Tensor | None, ...]:
    """Carry gradients from outputs to sources; None for sources that are held fixed or that no output depends on.

    The graph is freed, unless it is to `keep`, to be gone back over again.

    Examples
    --------
    >>> free, fixed = torch.ones(1, requires_grad=True), torch.ones(1)
    >>> gradients_where_wanted([3 * free * fixed], (free, fixed), [torch.ones(1)])
    (tensor([3.]), None)
    """
    known = [(output, gradient) for output, gradient in zip(outputs, gradients, strict=True) if output.requires_grad]
    free = [source for source in sources if source.requires_grad]
    if not known or not free:
        return (None,) * len(sources)
    ends, at_ends = zip(*known, strict=True)
    found = iter(torch.autograd.grad(ends, free, at_ends, allow_unused=True, retain_graph=keep))
    return tuple(next(found) if source.requires_grad else None for source in sources)


def weigh(weights: Tensor, position: int, like: Tensor) -> Tensor:
    """Shape one column of per-image weights so that it multiplies maps such as `like`."""
    return weights[:, position].to(like).reshape((-1,) + (1,) * (like.ndim - 1))


@dataclass(frozen=True)
class TorchSteps:
    """A field with Dormand-Prince steps in plain torch.

    Attributes
    ----------
    field : DifferentiableField
    """

    field: DifferentiableField

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt."""
        return self.field(t, h)

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of."""
        return self.field.tensors()

    def attempt(self, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
        """Attempt one step of every image."""
        return step(self.field, state, t0, dt, tolerance)

    def pull_back_slope(
        self, t: float, h: Tensor, gradient: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor | None, ...]]:
        """Evaluate dh/dt at `t`, and carry a gradient with respect to it back.

        Returns
        -------
        Tensor, shape (n, ...)
            dh/dt.
        Tensor, shape (n, ...)
            Gradient with respect to h.
        tuple of Tensor or None
            Gradients with respect to `tensors`.
        """
        with torch.enable_grad():
            state = h.detach().requires_grad_()
            slope = self.field(torch.tensor(t, dtype=h.dtype, device=h.device), state)
            found = gradients_where_wanted([slope], (state, *self.tensors()), [gradient])
        at_state = found[0] if found[0] is not None else torch.zeros_like(h)
        return slope.detach(), at_state, found[1:]

    def pull_back(
        self, y0: Tensor, t0: Tensor, dt: Tensor, gradient: StepGradient
    ) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """Carry a gradient from the far side of an accepted step to its start, evaluating the step once more.

        Times and steps are held constant: this is the derivative of the numbers that were computed.

        Returns
        -------
        Tensor, shape (n, ...)
            Gradient with respect to y0.
        tuple of Tensor or None
            Gradients with respect to `tensors`.
        """
        with torch.enable_grad():
            start = y0.detach().requires_grad_()
            f0 = self.field(t0.to(start)[0] if len(t0) == 1 else t0.to(start), start)
            y1, slopes = stages(self.field, (start, f0), t0, dt)
            outputs = [] if gradient.end is None else [y1]
            gradients = [] if gradient.end is None else [gradient.end]
            if gradient.inside:
                y_mid = midpoint(start, dt, slopes)
                h = dt.to(start).reshape((-1,) + (1,) * (start.ndim - 1))
                parts = (start, y1, y_mid, h * f0, h * slopes[-1])
                for x, wanted in gradient.inside:
                    weights = dense_weights(x)
                    outputs.append(torch.stack([weigh(weights, i, p) * p for i, p in enumerate(parts)]).sum(0))
                    gradients.append(wanted)
            found = gradients_where_wanted(outputs, (start, *self.tensors()), gradients)
        at_start = found[0] if found[0] is not None else torch.zeros_like(y0)
        return at_start, found[1:]
