"""A structured-receptive-field convolution outside an ODE block, as separable filters in the compiled engine."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dcnbio.errors import InputError
from dcnbio.model.engine.library import load
from dcnbio.model.engine.parameters import MAX_ORDER
from dcnbio.model.engine.structures import LayerStructure
from dcnbio.model.gaussian import basis_orders

__all__ = ["separable_conv2d"]


@dataclass(frozen=True)
class _Shape:
    height: int
    width: int
    stride: int
    pairs: tuple[tuple[int, int], ...]

    def output(self, images: int, channels: int) -> tuple[int, int, int, int]:
        return images, channels, (self.height - 1) // self.stride + 1, (self.width - 1) // self.stride + 1


def _structure(
    shape: _Shape, tensors: tuple[Tensor, Tensor, Tensor], gradients: tuple[Tensor | None, Tensor | None]
) -> LayerStructure:
    maps, taps, alphas = tensors
    terms = int(taps.shape[0])
    table = (ctypes.c_int32 * (terms * terms))(*([-1] * (terms * terms)))
    for index, (k, l) in enumerate(shape.pairs or basis_orders(terms - 1)):
        table[k * terms + l] = index
    return LayerStructure(
        images=maps.shape[0],
        threads=torch.get_num_threads(),
        height=shape.height,
        width=shape.width,
        channels_in=alphas.shape[1],
        channels_out=alphas.shape[2],
        order=terms - 1,
        size=taps.shape[1],
        stride=shape.stride,
        pairs=table,
        taps=taps.data_ptr(),
        alphas=alphas.data_ptr(),
        taps_gradient=None if gradients[0] is None else gradients[0].data_ptr(),
        alphas_gradient=None if gradients[1] is None else gradients[1].data_ptr(),
    )


def _call(name: str, dtype: torch.dtype, structure: LayerStructure, *maps: Tensor) -> None:
    entry = getattr(load(), f"dcnbio_{name}_{str(dtype).removeprefix('torch.')}")
    code = entry(ctypes.byref(structure), *(tensor.data_ptr() for tensor in maps))
    if code == 1:
        raise MemoryError("The compiled engine ran out of memory.")
    if code:
        raise RuntimeError("The compiled engine failed to run its threads.")


class _SeparableConv2d(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, shape: _Shape, maps: Tensor, taps: Tensor, alphas: Tensor) -> Tensor:
        tensors = (maps.contiguous(memory_format=torch.channels_last), taps.contiguous(), alphas.contiguous())
        ctx.shape = shape
        ctx.save_for_backward(*tensors)
        size = shape.output(maps.shape[0], alphas.shape[2])
        result = torch.empty(size, dtype=maps.dtype, memory_format=torch.channels_last)
        _call("layer", maps.dtype, _structure(shape, tensors, (None, None)), tensors[0], result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        maps, taps, alphas = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        gradients = (torch.zeros_like(taps) if wanted[2] else None, torch.zeros_like(alphas) if wanted[3] else None)
        result = torch.empty_like(maps)
        given = outside[0].contiguous(memory_format=torch.channels_last)
        structure = _structure(ctx.shape, (maps, taps, alphas), gradients)
        _call("layer_gradient", maps.dtype, structure, maps, given, result)
        return None, result, *gradients


def separable_conv2d(
    maps: Tensor, taps: Tensor, alphas: Tensor, stride: int = 1, pairs: tuple[tuple[int, int], ...] = ()
) -> Tensor:
    """Convolve maps with K[c', c] = sum_f alpha[f, c, c'] g_k(f)[y] g_l(f)[x] (equation 1), with gradients.

    Equal to ``torch.nn.functional.conv2d`` with that kernel, zero padding (k - 1)/2 and no bias.

    Parameters
    ----------
    maps : Tensor
        [n, C, Y, X], float32 or float64 on the CPU; channels-last memory is used as it is, other memory is copied.
    taps : Tensor
        [N + 1, k], k odd; filter m is used with parity (-1)^m.
    alphas : Tensor
        [F, C, C'], F = (N + 1)(N + 2)/2.
    stride : int
        Step between output pixels.
    pairs : tuple of (int, int)
        Orders (along y, along x) of the basis functions; empty for `basis_orders`.

    Returns
    -------
    Tensor
        [n, C', ceil(Y / stride), ceil(X / stride)], channels last. An image's numbers do not depend on its batch or on
        the number of threads.

    Raises
    ------
    InputError
        Where shapes or dtypes do not fit each other.
    RuntimeError
        Where the engine is not available; ask `available` first.
    """
    if taps.dim() != 2 or taps.shape[1] % 2 == 0 or not 1 <= taps.shape[0] <= MAX_ORDER + 1:
        raise InputError(
            f"taps has shape {tuple(taps.shape)}; allowed is [N + 1, k] with N at most {MAX_ORDER} and k odd."
        )
    order = int(taps.shape[0]) - 1
    basis = basis_orders(order)
    if maps.dim() != 4 or 0 in maps.shape[1:] or alphas.dim() != 3 or alphas.shape[:2] != (len(basis), maps.shape[1]):
        raise InputError(
            f"maps has shape {tuple(maps.shape)} and alphas {tuple(alphas.shape)}; they are [n, C, Y, X] and "
            f"[{len(basis)}, C, C'] for order {order}."
        )
    if stride < 1:
        raise InputError(f"stride is {stride}; it must be at least 1.")
    if pairs and sorted(pairs) != sorted(basis):
        raise InputError(f"pairs is {pairs}; allowed is each (k, l) with k + l <= {order} once, in any order.")
    kinds = {(tensor.dtype, tensor.device.type) for tensor in (maps, taps, alphas)}
    if kinds not in ({(torch.float32, "cpu")}, {(torch.float64, "cpu")}):
        raise InputError(
            f"maps, taps and alphas are {sorted(f'{dtype} on {device}' for dtype, device in kinds)}; the compiled "
            "engine takes float32 or float64 on the CPU, the same for all."
        )
    shape = _Shape(int(maps.shape[2]), int(maps.shape[3]), stride, pairs)
    result: Tensor = _SeparableConv2d.apply(shape, maps, taps, alphas)  # type: ignore[no-untyped-call]
    return result
