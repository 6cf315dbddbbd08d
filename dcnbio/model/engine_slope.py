"""A vector field of eq. 2 evaluated in the compiled engine with gradients: what the adjoint method solves backwards."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from dcnbio.model.engine import differentiable_evaluate
from dcnbio.model.engine_steps import EngineSteps, parameters_at

__all__ = ["EngineSlope"]


@dataclass(frozen=True)
class EngineSlope:
    """dh/dt with a graph to h and to `tensors`.

    Attributes
    ----------
    steps : EngineSteps
        Made once per solve.
    """

    steps: EngineSteps

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt at the scalar time `t`."""
        time = t.detach().double().reshape(1)
        if self.steps.fixed is not None:
            parameters, compiled = self.steps.fixed
            return differentiable_evaluate(parameters, time, h, compiled)
        return differentiable_evaluate(parameters_at(self.steps.field, time), time, h)

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that gradients are wanted of."""
        return self.steps.tensors()
