"""One call of the library: the tensors it reads and writes, checked, and the structure that names them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from dcnbio.errors import InputError
from dcnbio.model.engine.compiled_field import CompiledField
from dcnbio.model.engine.library import load
from dcnbio.model.engine.structures import BatchStructure

__all__ = ["Batch", "check_gradients", "per_image", "work_seconds"]

WORK = ("filters", "mixing", "norm", "combinations")
_seconds = torch.zeros(len(WORK), dtype=torch.float64)


def work_seconds(reset: bool = False) -> dict[str, float]:
    """Return the thread-seconds spent in this process in filters, mixing, norms and the solver's combinations.

    Parameters
    ----------
    reset : bool
        Start again from zero.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> sorted(work_seconds(reset=True))
    ['combinations', 'filters', 'mixing', 'norm']
    """
    result = dict(zip(WORK, _seconds.tolist(), strict=True))
    if reset:
        _seconds.zero_()
    return result


def _maps(field: CompiledField, name: str, value: Tensor, images: int | None = None) -> Tensor:
    shape = (field.parameters.channels, field.height, field.width)
    if value.dim() != 4 or tuple(value.shape[1:]) != shape or (images is not None and value.shape[0] != images):
        raise InputError(f"{name} has shape {tuple(value.shape)}; this field takes [{images or 'n'}, {shape}].")
    if value.dtype != field.dtype or value.device.type != "cpu":
        raise InputError(f"{name} is {value.dtype} on {value.device}; this field takes {field.dtype} on the CPU.")
    return value.detach().contiguous(memory_format=torch.channels_last)


def per_image(name: str, value: Tensor | float, images: int) -> Tensor:
    """Spread a scalar or per-image value to one float64 per image."""
    given = torch.as_tensor(value, dtype=torch.float64).detach().reshape(-1)
    if given.numel() not in (1, images):
        raise InputError(f"{name} has {given.numel()} values; allowed are 1 or one for each of {images} images.")
    return given.expand(images).contiguous()


class Batch:
    """Holds the tensors whose memory one call reads and writes."""

    def __init__(self, field: CompiledField, images: int) -> None:
        self._field = field
        self._kept: list[Tensor] = []
        self.images = images
        self.structure = BatchStructure(images=images, threads=torch.get_num_threads(), seconds=_seconds.data_ptr())

    def put(self, name: str, value: Tensor | None) -> None:
        """Name a tensor to the library."""
        if value is not None:
            self._kept.append(value)
            setattr(self.structure, name, value.data_ptr())

    def put_maps(self, name: str, value: Tensor | None) -> None:
        """Name a state or slope, checked and in channels-last memory."""
        if value is not None:
            self.put(name, _maps(self._field, name, value, self.images))

    def new_maps(self, name: str) -> Tensor:
        """Make the tensor that a result is written to."""
        field = self._field
        shape = (self.images, field.parameters.channels, field.height, field.width)
        maps = torch.empty(shape, dtype=field.dtype, memory_format=torch.channels_last)
        self.put(name, maps)
        return maps

    def run(self, call: str, gradients: Sequence[Tensor | None] | None = None) -> None:
        """Call the library."""
        field = self._field.structure(gradients)
        entry = getattr(load(), f"dcnbio_{call}_{self._field.dtype_name}")
        code = entry(ctypes.byref(field), ctypes.byref(self.structure))
        if code:
            raise (
                MemoryError("The compiled engine ran out of memory.")
                if code == 1
                else RuntimeError("The compiled engine failed to run its threads.")
            )


def check_gradients(field: CompiledField, gradients: Sequence[Tensor | None]) -> None:
    """Raise InputError where the tensors that gradients are added to are not like the field's parameters."""
    tensors = field.parameters.tensors()
    if len(gradients) != len(tensors):
        raise InputError(f"gradients holds {len(gradients)} tensors; this field has {len(tensors)} parameters.")
    for tensor, gradient in zip(tensors, gradients, strict=True):
        if gradient is None:
            continue
        if gradient.shape != tensor.shape or gradient.dtype != tensor.dtype or not gradient.is_contiguous():
            raise InputError(
                f"a gradient is {tuple(gradient.shape)} {gradient.dtype}; it must be contiguous and like its "
                f"parameter, {tuple(tensor.shape)} {tensor.dtype}."
            )
