"""Random fields, and the plain torch evaluation that the compiled engine must equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from dcnbio.model.engine import FieldParameters, GroupNorm, PixelKernel, SeparableKernel, available
from dcnbio.model.gaussian import basis_orders

PlainField = Callable[[FieldParameters, Tensor | float, Tensor], Tensor]


@dataclass(frozen=True)
class Case:
    """Shape and kind of a random field."""

    channels: int = 6
    height: int = 5
    width: int = 4
    order: int = 2
    size: int = 5
    groups: int = 3
    kinds: tuple[str, str] = ("separable", "separable")
    taps_sets: tuple[int, ...] = ()
    weight_sets: tuple[int, ...] = ()
    activation: str = "celu"
    images: int = 3
    dtype: torch.dtype = torch.float64


class Draw:
    """Draws fields and maps of a case."""

    def __init__(self, case: Case, seed: int = 0) -> None:
        self.case = case
        self._random = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self._random, dtype=torch.float64).to(self.case.dtype)

    def maps(self) -> Tensor:
        return self.normal(self.case.images, self.case.channels, self.case.height, self.case.width)

    def kernel(self, kind: str) -> SeparableKernel | PixelKernel:
        case = self.case
        c = case.channels
        if kind == "pixel":
            weight = self.normal(*case.weight_sets, c, c + 1, case.size, case.size) / case.size
            return PixelKernel(weight / c**0.5, self.normal(c))
        taps = self.normal(*case.taps_sets, case.order + 1, case.size) / case.size**0.5
        functions = (case.order + 1) * (case.order + 2) // 2
        return SeparableKernel(taps, self.normal(*case.weight_sets, functions, c + 1, c) / (functions * c) ** 0.5)

    def field(self) -> FieldParameters:
        c = self.case.channels
        norms = [GroupNorm(1 + self.normal(c) / 5, self.normal(c) / 5) for _ in range(3)]
        kernels = (self.kernel(self.case.kinds[0]), self.kernel(self.case.kinds[1]))
        return FieldParameters(kernels, (norms[0], norms[1], norms[2]), self.case.groups, self.case.activation)


def dense_kernel(kernel: SeparableKernel | PixelKernel) -> Tensor:
    """Equation 1 as one tensor, from the even and odd parts of the taps."""
    if isinstance(kernel, PixelKernel):
        return kernel.weight
    signs = torch.tensor([(-1.0) ** m for m in range(kernel.order + 1)], dtype=kernel.taps.dtype).reshape(-1, 1)
    taps = (kernel.taps + signs * kernel.taps.flip(-1)) / 2
    along_y, along_x = (list(orders) for orders in zip(*(kernel.pairs or basis_orders(kernel.order)), strict=True))
    return torch.einsum("fio,fy,fx->oiyx", kernel.alphas, taps[along_y], taps[along_x])


def evaluate_plainly(parameters: FieldParameters, time: Tensor | float, state: Tensor) -> Tensor:
    """Equation 2 by torch.nn.functional, with the time channel joined to the input."""
    activation = {"celu": functional.celu, "relu": functional.relu, "identity": lambda x: x}[parameters.activation]
    plane = torch.as_tensor(time, dtype=state.dtype).reshape(-1, 1, 1, 1).expand(len(state), 1, *state.shape[2:])
    for norm, kernel in zip(parameters.norms, parameters.kernels, strict=False):
        state = activation(functional.group_norm(state, parameters.groups, norm.weight, norm.bias, parameters.epsilon))
        bias = kernel.bias if isinstance(kernel, PixelKernel) else None
        joined = torch.cat([plane, state], 1)
        state = functional.conv2d(joined, dense_kernel(kernel), bias, padding=kernel.size // 2)
    last = parameters.norms[2]
    return functional.group_norm(state, parameters.groups, last.weight, last.bias, parameters.epsilon)


def of_stage(kernel: SeparableKernel | PixelKernel, stage: int, image: int) -> SeparableKernel | PixelKernel:
    """Pick the parameters of one stage of one image."""
    if isinstance(kernel, PixelKernel):
        return kernel if kernel.weight.dim() == 4 else PixelKernel(kernel.weight[stage], kernel.bias)
    taps = kernel.taps[image] if kernel.taps.dim() == 4 else kernel.taps
    taps = taps[min(stage, len(taps) - 1)] if taps.dim() == 3 else taps
    return SeparableKernel(taps, kernel.alphas[stage] if kernel.alphas.dim() == 4 else kernel.alphas, kernel.pairs)


@pytest.fixture(scope="session")
def draw() -> type[Draw]:
    return Draw


@pytest.fixture(scope="session")
def case() -> type[Case]:
    return Case


@pytest.fixture(scope="session")
def plain() -> PlainField:
    return evaluate_plainly


@pytest.fixture(scope="session")
def plain_stage() -> Callable[[FieldParameters, int, Tensor, Tensor], Tensor]:
    """The field at one stage, image by image, each with its own time and parameters."""

    def evaluate(parameters: FieldParameters, stage: int, time: Tensor, state: Tensor) -> Tensor:
        slopes = []
        for image in range(len(state)):
            first, second = (of_stage(kernel, stage, image) for kernel in parameters.kernels)
            fixed = FieldParameters((first, second), parameters.norms, parameters.groups, parameters.activation)
            slopes.append(evaluate_plainly(fixed, time[image], state[image : image + 1]))
        return torch.cat(slopes)

    return evaluate


@pytest.fixture(scope="session")
def compiled() -> None:
    """Skip where no engine can be built; a machine that sets DCNBIO_ENGINE=off runs the plain path only."""
    status = available()
    if not status:
        pytest.skip(f"the compiled engine is not available: {status.reason}")
