"""Whether the compiled engine works here: built, loaded, and right on a small case."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor
from torch.nn import functional

from dcnbio.model.engine.calls import evaluate
from dcnbio.model.engine.compiled_field import CompiledField
from dcnbio.model.engine.library import EngineStatus, status_of_build
from dcnbio.model.engine.parameters import FieldParameters, GroupNorm, PixelKernel, SeparableKernel
from dcnbio.model.gaussian import basis_orders

__all__ = ["available"]

AGREEMENT = 1e-5  # of the largest value, in float32
_lock = threading.Lock()
_checked: dict[str, EngineStatus] = {}


def available() -> EngineStatus:
    """Say whether the compiled engine can be used in this process.

    The first call compiles the engine where the cache folder has none (some seconds) and compares it with plain torch
    on a small case.

    Returns
    -------
    EngineStatus
        True in a condition where it can be used; ``reason`` says why not: ``DCNBIO_ENGINE=off``, no compiler, a cache
        folder that cannot be written, or a result that is wrong on this machine.

    Examples
    --------
    >>> status = available()
    >>> isinstance(bool(status), bool) and len(status.reason) > 0
    True
    """
    built = status_of_build()
    if not built:
        return built
    with _lock:
        if "status" not in _checked:
            # autocast, modes and default devices are a thread's own: the answer, which is kept, must not follow them
            with ThreadPoolExecutor(1) as apart:
                _checked["status"] = apart.submit(_self_check).result()
        return _checked["status"]


def _small_case() -> tuple[FieldParameters, Tensor]:
    random = torch.Generator().manual_seed(0)
    channels, order = 6, 2

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float32)

    taps = draw(order + 1, 5)
    signs = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float32).reshape(-1, 1)
    separable = SeparableKernel(taps + signs * taps.flip(1), 0.1 * draw(6, channels + 1, channels))
    pixel = PixelKernel(0.1 * draw(channels, channels + 1, 3, 3), draw(channels))
    norms = tuple(GroupNorm(1 + 0.1 * draw(channels), 0.1 * draw(channels)) for _ in range(3))
    return FieldParameters((separable, pixel), (norms[0], norms[1], norms[2]), groups=3), draw(2, channels, 5, 4)


def _dense_kernel(kernel: SeparableKernel) -> Tensor:
    first, second = (list(orders) for orders in zip(*basis_orders(kernel.order), strict=True))
    return torch.einsum("fio,fy,fx->oiyx", kernel.alphas, kernel.taps[first], kernel.taps[second])


def _plain(parameters: FieldParameters, time: float, state: Tensor) -> Tensor:
    for index, kernel in enumerate(parameters.kernels):
        norm = parameters.norms[index]
        state = functional.celu(functional.group_norm(state, parameters.groups, norm.weight, norm.bias))
        weight = _dense_kernel(kernel) if isinstance(kernel, SeparableKernel) else kernel.weight
        bias = None if isinstance(kernel, SeparableKernel) else kernel.bias
        joined = torch.cat([torch.full_like(state[:, :1], time), state], 1)
        state = functional.conv2d(joined, weight, bias, padding=kernel.size // 2)
    norm = parameters.norms[2]
    return functional.group_norm(state, parameters.groups, norm.weight, norm.bias)


def _self_check() -> EngineStatus:
    parameters, state = _small_case()
    with torch.no_grad():
        wanted = _plain(parameters, 0.7, state)
        try:
            found = evaluate(CompiledField.of(parameters, 5, 4), 0.7, state)
        except (RuntimeError, MemoryError) as error:
            return EngineStatus(False, f"the compiled engine failed its self-check: {error}")
    difference = float((found - wanted).abs().max() / wanted.abs().max())
    if not difference < AGREEMENT:
        return EngineStatus(
            False,
            f"the compiled engine failed its self-check: it differs from torch by {difference:.1e} of the largest",
        )
    return EngineStatus(True, "compiled, and equal to torch on a small case")
