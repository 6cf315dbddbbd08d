"""What a vector field is made of, as tensors: kernels, norms and the choices between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.model.gaussian import basis_orders

__all__ = ["ACTIVATIONS", "FieldParameters", "GroupNorm", "Kernel", "PixelKernel", "SeparableKernel"]

ACTIVATIONS = ("identity", "relu", "celu")
MAX_ORDER = 4
# A multiply-add of the transformed form costs this many of the direct one's: its products are shorter.
SPECTRAL_WEIGHT = 1.2


@dataclass(frozen=True)
class SeparableKernel:
    """An SRF kernel, K[c', c] = sum_f alpha[f, c, c'] g_k(f)[y] g_l(f)[x] (equation 1 with separable filters).

    Attributes
    ----------
    taps : Tensor
        [N + 1, k], k odd: the filters g_0..g_N along one axis. Filter m is used with parity (-1)^m: it is projected
        on its even or odd part. [stage, N + 1, k] with stage 1 or 7 where the taps depend on time, and
        [image, stage, N + 1, k] where each image has its own time; pad shorter filters with zeros on both sides.
    alphas : Tensor
        [F, C + 1, C], F = (N + 1)(N + 2)/2; input channel 0 is the time channel. [stage, F, C + 1, C] where they
        depend on time.
    pairs : tuple of (int, int)
        Orders (along y, along x) of the F basis functions; empty for `basis_orders`.
    """

    taps: Tensor
    alphas: Tensor
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def order(self) -> int:
        """Highest derivative order N."""
        return int(self.taps.shape[-2]) - 1

    @property
    def size(self) -> int:
        """Taps per filter."""
        return int(self.taps.shape[-1])

    @property
    def weight(self) -> Tensor:
        """The alphas, under the name the two kinds share."""
        return self.alphas

    @property
    def weight_sets(self) -> int:
        """How many sets of alphas there are: 1, or one per stage."""
        return int(self.alphas.shape[0]) if self.alphas.dim() == 4 else 1

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the parameters in a fixed order: taps, alphas."""
        return self.taps, self.alphas

    def with_tensors(self, tensors: Sequence[Tensor]) -> SeparableKernel:
        """Return the same kernel on other tensors."""
        return replace(self, taps=tensors[0], alphas=tensors[1])

    def check(self, channels: int) -> None:
        """Raise InputError where shapes do not fit each other or `channels`."""
        taps, alphas = self.taps, self.alphas
        if taps.dim() not in (2, 3, 4) or taps.shape[-1] % 2 == 0 or not 1 <= taps.shape[-2] <= MAX_ORDER + 1:
            raise InputError(
                f"taps has shape {tuple(taps.shape)}; allowed is [N + 1, k] with N at most {MAX_ORDER} and k odd, with "
                "[stage] or [image, stage] before it where the taps depend on time."
            )
        order = self.order
        functions = (order + 1) * (order + 2) // 2
        if alphas.dim() not in (3, 4) or tuple(alphas.shape[-3:]) != (functions, channels + 1, channels):
            raise InputError(
                f"alphas has shape {tuple(alphas.shape)}; for order {order} and {channels} channels it is "
                f"[{functions}, {channels + 1}, {channels}], with [stage] before it where the alphas depend on time."
            )
        if self.pairs and sorted(self.pairs) != sorted(basis_orders(order)):
            raise InputError(f"pairs is {self.pairs}; allowed is each (k, l) with k + l <= {order} once, in any order.")


@dataclass(frozen=True)
class PixelKernel:
    """A dense kernel, as in ODE-Net or an SRF kernel built outside.

    Attributes
    ----------
    weight : Tensor
        [C, C + 1, k, k], k odd, input channel 0 the time channel; [stage, C, C + 1, k, k] where it depends on time.
    bias : Tensor, optional
        [C].
    """

    weight: Tensor
    bias: Tensor | None = None

    @property
    def size(self) -> int:
        """Width of the kernel, in pixels."""
        return int(self.weight.shape[-1])

    @property
    def weight_sets(self) -> int:
        """How many kernels there are: 1, or one per stage."""
        return int(self.weight.shape[0]) if self.weight.dim() == 5 else 1

    def spectral(self, width: int) -> bool:
        """Whether rows of `width` pixels are better multiplied as frequencies: by multiply-adds, so always the same.

        Direct: width k^2 C; transformed along x: about 3/2 n k C with n = width + k/2, and 5/2 n width for the
        transforms. Kernels that change with time would have to be transformed at each stage, and stay direct.
        """
        k, channels = self.size, int(self.weight.shape[-4])
        length = width + k // 2
        planes = 1 + (length % 2 == 0) + 3 * ((length - 1) // 2)
        products = planes * k * channels + (planes + length) * width
        return self.weight_sets == 1 and SPECTRAL_WEIGHT * products < width * k**2 * channels

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the parameters in a fixed order: weight, then bias if there is one."""
        return (self.weight,) if self.bias is None else (self.weight, self.bias)

    def with_tensors(self, tensors: Sequence[Tensor]) -> PixelKernel:
        """Return the same kernel on other tensors."""
        return replace(self, weight=tensors[0], bias=None if self.bias is None else tensors[1])

    def check(self, channels: int) -> None:
        """Raise InputError where shapes do not fit each other or `channels`."""
        shape = tuple(self.weight.shape)
        size = shape[-1] if shape else 0
        if len(shape) not in (4, 5) or shape[-4:] != (channels, channels + 1, size, size) or size % 2 == 0:
            raise InputError(
                f"weight has shape {shape}; for {channels} channels it is [{channels}, {channels + 1}, k, k] with k "
                "odd, with [stage] before it where the kernel depends on time."
            )
        if self.bias is not None and tuple(self.bias.shape) != (channels,):
            raise InputError(f"bias has shape {tuple(self.bias.shape)}; for {channels} channels it is [{channels}].")


Kernel: TypeAlias = SeparableKernel | PixelKernel


@dataclass(frozen=True)
class GroupNorm:
    """Weight and bias, [C] each, of one group normalisation."""

    weight: Tensor
    bias: Tensor


@dataclass(frozen=True)
class FieldParameters:
    """All of dh/dt = N3(conv2(g(N2(conv1(g(N1(h)), t))), t)) but the state (equation 2).

    Attributes
    ----------
    kernels : tuple of two SeparableKernel or PixelKernel
    norms : tuple of three GroupNorm
    groups : int
        Groups of each normalisation; divides C.
    activation : {"identity", "relu", "celu"}
        CELU with alpha = 1.
    epsilon : float
        Added to each group's variance.
    """

    kernels: tuple[Kernel, Kernel]
    norms: tuple[GroupNorm, GroupNorm, GroupNorm]
    groups: int
    activation: str = "celu"
    epsilon: float = 1e-5

    @property
    def channels(self) -> int:
        """Channels C of the state."""
        return int(self.norms[0].weight.shape[0])

    def tensors(self) -> tuple[Tensor, ...]:
        """Return every parameter: both kernels' tensors, then weight and bias of the three norms."""
        norms = [tensor for norm in self.norms for tensor in (norm.weight, norm.bias)]
        return (*self.kernels[0].tensors(), *self.kernels[1].tensors(), *norms)

    def with_tensors(self, tensors: Sequence[Tensor]) -> FieldParameters:
        """Return the same field on other tensors, given in the order of `tensors`."""
        first = len(self.kernels[0].tensors())
        second = first + len(self.kernels[1].tensors())
        norms = tensors[second:]
        return replace(
            self,
            kernels=(
                self.kernels[0].with_tensors(tensors[:first]),
                self.kernels[1].with_tensors(tensors[first:second]),
            ),
            norms=(GroupNorm(*norms[0:2]), GroupNorm(*norms[2:4]), GroupNorm(*norms[4:6])),
        )

    def check(self) -> None:
        """Raise InputError where the parts do not fit each other."""
        channels = self.channels
        if self.activation not in ACTIVATIONS:
            raise InputError(f"activation is {self.activation!r}; allowed are {', '.join(ACTIVATIONS)}.")
        if self.groups < 1 or channels % self.groups:
            raise InputError(f"groups is {self.groups}; it must divide the {channels} channels.")
        for norm in self.norms:
            if norm.weight.shape != (channels,) or norm.bias.shape != (channels,):
                raise InputError(
                    f"a norm has weight {tuple(norm.weight.shape)} and bias {tuple(norm.bias.shape)}; both are "
                    f"[{channels}], like the first norm's weight."
                )
        for kernel in self.kernels:
            kernel.check(channels)
        kinds = {(tensor.dtype, tensor.device.type) for tensor in self.tensors()}
        if kinds not in ({(torch.float32, "cpu")}, {(torch.float64, "cpu")}):
            raise InputError(
                f"the parameters are {sorted(f'{dtype} on {device}' for dtype, device in kinds)}; the compiled engine "
                "takes float32 or float64 on the CPU, the same for all."
            )
