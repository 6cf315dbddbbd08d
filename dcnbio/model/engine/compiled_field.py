"""A vector field made ready for the compiled engine: checked, contiguous, with its weights packed once."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.model.engine.library import load
from dcnbio.model.engine.parameters import ACTIVATIONS, FieldParameters, SeparableKernel
from dcnbio.model.engine.structures import ConvolutionStructure, FieldStructure
from dcnbio.model.gaussian import basis_orders

__all__ = ["CompiledField"]

DTYPE_NAMES = {torch.float32: "float32", torch.float64: "float64"}


def _pair_table(kernel: SeparableKernel) -> ctypes.Array[ctypes.c_int32]:
    terms = kernel.order + 1
    table = (ctypes.c_int32 * (terms * terms))(*([-1] * (terms * terms)))
    for index, (k, l) in enumerate(kernel.pairs or basis_orders(kernel.order)):
        table[k * terms + l] = index
    return table


@dataclass(frozen=True, eq=False)
class CompiledField:
    """One field on maps of one size. Make it with `of`, once per solve; the parameters must not change meanwhile.

    Attributes
    ----------
    parameters : FieldParameters
        Detached and contiguous.
    height, width : int
        Size of the maps, pixels.
    """

    parameters: FieldParameters
    height: int
    width: int
    _pairs: tuple[ctypes.Array[ctypes.c_int32] | None, ...]
    _packed: dict[bool, tuple[Tensor, Tensor]]  # by "adjoint", which only gradients need

    @classmethod
    def of(cls, parameters: FieldParameters, height: int, width: int) -> CompiledField:
        """Check and pack a field for maps of `height` x `width` pixels.

        Raises
        ------
        InputError
            Where shapes or dtypes do not fit each other.
        RuntimeError
            Where the engine is not available.
        """
        parameters.check()
        if height < 1 or width < 1:
            raise InputError(f"the maps are {height} x {width} pixels; each side must be at least 1.")
        own = parameters.with_tensors([tensor.detach().contiguous() for tensor in parameters.tensors()])
        pairs = tuple(_pair_table(kernel) if isinstance(kernel, SeparableKernel) else None for kernel in own.kernels)
        field = cls(own, height, width, pairs, {})
        field._pack(adjoint=False)
        return field

    def _pack(self, adjoint: bool) -> None:
        library, structure = load(), self._described(None)
        size = getattr(library, f"dcnbio_packed_size_{self.dtype_name}")
        like = self.parameters.norms[0].weight
        first, second = (like.new_empty(size(ctypes.byref(structure), index, adjoint)) for index in (0, 1))
        for to, packed in zip(structure.convolution, (first, second), strict=True):
            setattr(to, "packed_adjoint" if adjoint else "packed", packed.data_ptr())
        getattr(library, f"dcnbio_pack_{self.dtype_name}")(ctypes.byref(structure), adjoint)
        self._packed[adjoint] = (first, second)

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of parameters and state."""
        return self.parameters.norms[0].weight.dtype

    @property
    def dtype_name(self) -> str:
        """Suffix of the library's entry points."""
        return DTYPE_NAMES[self.dtype]

    def check_stages(self, images: int, stages: int) -> None:
        """Raise InputError where time-dependent parameters are not given for these images and stages."""
        for kernel in self.parameters.kernels:
            if kernel.weight_sets not in (1, stages):
                raise InputError(
                    f"there are {kernel.weight_sets} sets of weights; this call evaluates {stages} stage(s): give "
                    "1 set or one per stage."
                )
            if isinstance(kernel, SeparableKernel) and kernel.taps.dim() > 2:
                given = tuple(kernel.taps.shape[:-2])
                if given[-1] not in (1, stages) or (len(given) == 2 and given[0] != images):
                    raise InputError(
                        f"taps are given for {given} ([stage] or [image, stage]); this call has {images} image(s) and "
                        f"{stages} stage(s)."
                    )

    def structure(self, gradients: Sequence[Tensor | None] | None) -> FieldStructure:
        """Describe the field to the library, with one gradient (or None) per tensor of ``parameters.tensors()``."""
        if gradients is not None and True not in self._packed:
            self._pack(adjoint=True)
        return self._described(gradients)

    def _described(self, gradients: Sequence[Tensor | None] | None) -> FieldStructure:
        own = self.parameters
        slots = list(gradients) if gradients is not None else [None] * len(own.tensors())
        pointers = [None if slot is None else slot.data_ptr() for slot in slots]
        result = FieldStructure(
            height=self.height,
            width=self.width,
            channels=own.channels,
            groups=own.groups,
            activation=ACTIVATIONS.index(own.activation),
            epsilon=own.epsilon,
        )
        for index, kernel in enumerate(own.kernels):
            count = len(kernel.tensors())
            self._describe(index, result.convolution[index], pointers[:count])
            pointers = pointers[count:]
        for index, norm in enumerate(own.norms):
            result.norm_weight[index] = norm.weight.data_ptr()
            result.norm_bias[index] = norm.bias.data_ptr()
            result.norm_weight_gradient[index], result.norm_bias_gradient[index] = pointers[2 * index : 2 * index + 2]
        return result

    def _describe(self, index: int, to: ConvolutionStructure, gradients: list[int | None]) -> None:
        kernel = self.parameters.kernels[index]
        to.size, to.weight_sets = kernel.size, kernel.weight_sets
        to.weight = kernel.weight.data_ptr()
        for adjoint, packed in self._packed.items():
            setattr(to, "packed_adjoint" if adjoint else "packed", packed[index].data_ptr())
        if isinstance(kernel, SeparableKernel):
            to.kind, to.order = 0, kernel.order
            to.pairs, to.taps = self._pairs[index], kernel.taps.data_ptr()
            shape = kernel.taps.shape
            bank = int(shape[-1] * shape[-2])
            if kernel.taps.dim() > 2:
                to.taps_stage_stride = bank if shape[-3] > 1 else 0
            if kernel.taps.dim() > 3:
                to.taps_image_stride = bank * int(shape[-3])
            to.taps_gradient, to.weight_gradient = gradients
        else:
            to.kind = 2 if kernel.spectral(self.width) else 1
            to.bias = None if kernel.bias is None else kernel.bias.data_ptr()
            to.weight_gradient = gradients[0]
            to.bias_gradient = gradients[1] if len(gradients) > 1 else None
