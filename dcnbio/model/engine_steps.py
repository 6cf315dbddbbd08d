"""Steps a vector field of eq. 2 in the compiled engine, forwards and backwards."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dcnbio.model.convolution_form import engine_takes
from dcnbio.model.convolution_precision import convolution_type
from dcnbio.model.dormand_prince import NODES, Attempt, dense_weights
from dcnbio.model.engine import (
    AttemptGradients,
    CompiledField,
    FieldParameters,
    GroupNorm,
    PixelKernel,
    SeparableKernel,
    Tolerance,
    attempt,
    attempt_vjp,
    evaluate,
    evaluate_vjp,
    new_gradients,
)
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.steps import StepGradient, gradients_where_wanted, weigh
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = ["EngineSteps", "suits_engine"]

NAMES = {nn.functional.celu: "celu", nn.functional.relu: "relu"}
STAGE_TIMES = torch.tensor([0.0, *NODES], dtype=torch.float64)


def suits_engine(field: nn.Module, like: Tensor) -> bool:
    """Whether the compiled engine can step this field on these maps: eq. 2 with CELU or ReLU, on the CPU.

    A norm that somebody has put in the place of one of ours is evaluated in plain torch, and so are dense kernels where
    convolutions are asked for in another precision: the engine has one, and is no faster than torch's in bfloat16.
    """
    if not isinstance(field, ConvField) or field.activation not in NAMES or not engine_takes(like):
        return False
    if not all(type(norm) is nn.GroupNorm and norm.affine for norm in field.norms):
        return False
    if len({(norm.num_groups, norm.eps) for norm in field.norms}) > 1:
        return False
    if convolution_type() is not None and not all(runs_separable(conv) for conv in field.convs):
        return False
    moving = [conv for conv in field.convs if not isinstance(conv, PixelConv2d) and conv.time_dependent]
    return all(conv.form == "separable" for conv in moving)


def runs_separable(conv: FieldConv) -> bool:
    """Whether a convolution runs as separable filters."""
    return not isinstance(conv, PixelConv2d) and conv.form == "separable"


def kernel_at(conv: FieldConv, t: Tensor) -> SeparableKernel | PixelKernel:
    """Describe a convolution at solver times `t`: a scalar, (stages,), or (n, stages)."""
    if isinstance(conv, PixelConv2d):
        return PixelKernel(conv.weight, conv.bias)
    if conv.form == "direct":
        return PixelKernel(conv.kernel(t))
    alpha: Tensor = conv.alpha.offset
    if conv.rule.alpha_degree > 0:
        alpha = torch.stack([conv.alpha(moment) for moment in t])
    return SeparableKernel(conv.taps(t).to(alpha.dtype), alpha)


def parameters_at(field: ConvField, t: Tensor) -> FieldParameters:
    """Describe the field in the engine's terms, with the graph back to the network's parameters."""
    first, second, third = (GroupNorm(norm.weight, norm.bias) for norm in field.norms)
    return FieldParameters(
        kernels=(kernel_at(field.conv1, t), kernel_at(field.conv2, t)),
        norms=(first, second, third),
        groups=field.norm1.num_groups,
        activation=NAMES[field.activation],
        epsilon=field.norm1.eps,
    )


@dataclass(frozen=True)
class EngineSteps:
    """A field with Dormand-Prince steps in compiled code; make it with `of`, once per solve.

    Attributes
    ----------
    field : ConvField
    size : tuple of int
        Height and width of the maps.
    fixed : tuple of (FieldParameters, CompiledField), or None
        What does not depend on t; None where the filters do.
    """

    field: ConvField
    size: tuple[int, int]
    fixed: tuple[FieldParameters, CompiledField] | None

    @classmethod
    def of(cls, field: ConvField, like: Tensor) -> EngineSteps:
        """Make the field ready for maps such as `like`."""
        size = (like.shape[-2], like.shape[-1])
        if any(conv.time_dependent for conv in field.convs):
            return cls(field, size, None)
        parameters = parameters_at(field, torch.zeros((), dtype=torch.float64))
        return cls(field, size, (parameters, CompiledField.of(parameters, *size)))

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of: kernels built once, or the network's own parameters."""
        return tuple(self.field.parameters()) if self.fixed is None else self.fixed[0].tensors()

    @property
    def one_by_one(self) -> bool:
        """Whether images at different times need a call each: alpha(t) has many numbers for every time."""
        return any(not isinstance(c, PixelConv2d) and c.rule.alpha_degree > 0 for c in self.field.convs)

    def compiled(self, t: Tensor) -> CompiledField:
        """Give the field at times `t`, (stages,) or (n, stages)."""
        if self.fixed is not None:
            return self.fixed[1]
        with torch.no_grad():
            return CompiledField.of(parameters_at(self.field, t), *self.size)

    def apart(self, t: Tensor) -> bool:
        """Whether these times ask for a call per image."""
        return self.fixed is None and self.one_by_one and len(t) > 1

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at time `t`, a scalar or one per image."""
        t = t.double().reshape(-1)
        if self.apart(t):
            return torch.cat([self(t[i], h[i : i + 1]) for i in range(len(h))])
        return evaluate(self.compiled(t[:, None] if len(t) > 1 else t), t, h)

    def stage_times(self, t0: Tensor, dt: Tensor) -> Tensor:
        """Give the times of a step's seven evaluations, (7,) or (n, 7)."""
        times = t0[:, None] + dt[:, None] * STAGE_TIMES
        return times[0] if len(t0) == 1 else times

    def attempt(self, state: tuple[Tensor, Tensor], t0: Tensor, dt: Tensor, tolerance: tuple[float, float]) -> Attempt:
        """Attempt one step of every image."""
        if self.apart(t0):
            rows = [slice(i, i + 1) for i in range(len(t0))]
            parts = [self.attempt((state[0][r], state[1][r]), t0[r], dt[r], tolerance) for r in rows]
            return Attempt(*(torch.cat(column) for column in zip(*parts, strict=True)))
        found = attempt(self.compiled(self.stage_times(t0, dt)), state, t0, dt, Tolerance(*tolerance))
        return Attempt(*found)

    def pull_back(
        self, y0: Tensor, t0: Tensor, dt: Tensor, gradient: StepGradient
    ) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """Carry a gradient from the far side of an accepted step to its start; see `TorchSteps.pull_back`."""
        if self.apart(t0):
            return self.pulled_apart(y0, t0, dt, gradient)
        outside, direct = at_step_ends(dt, gradient, y0)
        if self.fixed is not None:
            totals = new_gradients(self.fixed[1])
            at_start, _ = attempt_vjp(self.fixed[1], (y0, None), t0, dt, outside, totals)
            return add(at_start, direct), tuple(totals)
        with torch.enable_grad():
            parameters = parameters_at(self.field, self.stage_times(t0, dt))
        compiled = CompiledField.of(parameters, *self.size)
        totals = new_gradients(compiled)
        at_start, _ = attempt_vjp(compiled, (y0, None), t0, dt, outside, totals)
        return add(at_start, direct), gradients_where_wanted(parameters.tensors(), self.tensors(), totals)

    def pull_back_slope(
        self, t: float, h: Tensor, gradient: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor | None, ...]]:
        """Evaluate dh/dt at `t`, and carry a gradient with respect to it back; see `TorchSteps.pull_back_slope`."""
        time = torch.tensor([t], dtype=torch.float64)
        if self.fixed is not None:
            compiled = self.fixed[1]
            totals = new_gradients(compiled)
            return *evaluate_vjp(compiled, time, h, gradient, totals), tuple(totals)
        with torch.enable_grad():
            parameters = parameters_at(self.field, time)
        compiled = CompiledField.of(parameters, *self.size)
        totals = new_gradients(compiled)
        slope, at_state = evaluate_vjp(compiled, time, h, gradient, totals)
        return slope, at_state, gradients_where_wanted(parameters.tensors(), self.tensors(), totals)

    def pulled_apart(
        self, y0: Tensor, t0: Tensor, dt: Tensor, gradient: StepGradient
    ) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """Do the same image by image."""
        starts: list[Tensor] = []
        totals: list[Tensor | None] = [None] * len(self.tensors())
        for i in range(len(t0)):
            row = slice(i, i + 1)
            end = None if gradient.end is None else gradient.end[row]
            inside = tuple((x[row], wanted[row]) for x, wanted in gradient.inside)
            start, found = self.pull_back(y0[row], t0[row], dt[row], StepGradient(end, inside))
            starts.append(start)
            totals = [add(a, b) if b is not None else a for a, b in zip(totals, found, strict=True)]
        return torch.cat(starts), tuple(totals)


def add(one: Tensor | None, other: Tensor | None) -> Tensor:
    """Add two gradients, of which one may be zero (None)."""
    if one is None or other is None:
        found = one if other is None else other
        if found is None:
            raise ValueError("both gradients are None")
        return found
    return one + other


def at_step_ends(dt: Tensor, gradient: StepGradient, like: Tensor) -> tuple[AttemptGradients, Tensor | None]:
    """Share the gradients at output times out to the five quantities that dense output is made of; y0's comes apart."""
    parts: list[Tensor | None] = [None, gradient.end, None, None, None]
    step = dt.to(like).reshape((-1,) + (1,) * (like.ndim - 1))
    for x, wanted in gradient.inside:
        weights = dense_weights(x)
        for i in range(len(parts)):
            share = weigh(weights, i, wanted) * wanted
            parts[i] = add(parts[i], share if i < 3 else step * share)
    return AttemptGradients(y1=parts[1], y_mid=parts[2], f0=parts[3], f1=parts[4]), parts[0]
