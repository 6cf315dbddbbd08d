"""The C structures of ``source/abi.h``, field by field."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_void_p
from typing import ClassVar

__all__ = ["BatchStructure", "ConvolutionStructure", "DenseStructure", "FieldStructure", "LayerStructure"]


class ConvolutionStructure(Structure):
    """DcnbioConvolution."""

    _fields_: ClassVar = [
        ("kind", c_int32),
        ("order", c_int32),
        ("size", c_int32),
        ("weight_sets", c_int32),
        ("taps_image_stride", c_int64),
        ("taps_stage_stride", c_int64),
        ("pairs", POINTER(c_int32)),
        ("taps", c_void_p),
        ("weight", c_void_p),
        ("bias", c_void_p),
        ("packed", c_void_p),
        ("packed_adjoint", c_void_p),
        ("taps_gradient", c_void_p),
        ("weight_gradient", c_void_p),
        ("bias_gradient", c_void_p),
    ]


class FieldStructure(Structure):
    """DcnbioField."""

    _fields_: ClassVar = [
        ("height", c_int32),
        ("width", c_int32),
        ("channels", c_int32),
        ("groups", c_int32),
        ("activation", c_int32),
        ("epsilon", c_double),
        ("convolution", ConvolutionStructure * 2),
        ("norm_weight", c_void_p * 3),
        ("norm_bias", c_void_p * 3),
        ("norm_weight_gradient", c_void_p * 3),
        ("norm_bias_gradient", c_void_p * 3),
    ]


class LayerStructure(Structure):
    """DcnbioLayer."""

    _fields_: ClassVar = [
        ("images", c_int64),
        ("threads", c_int32),
        ("height", c_int32),
        ("width", c_int32),
        ("channels_in", c_int32),
        ("channels_out", c_int32),
        ("order", c_int32),
        ("size", c_int32),
        ("stride", c_int32),
        ("pairs", POINTER(c_int32)),
        ("taps", c_void_p),
        ("alphas", c_void_p),
        ("taps_gradient", c_void_p),
        ("alphas_gradient", c_void_p),
    ]


class BatchStructure(Structure):
    """DcnbioBatch."""

    _fields_: ClassVar = [
        ("images", c_int64),
        ("threads", c_int32),
        ("time", c_void_p),
        ("step", c_void_p),
        ("rtol", c_double),
        ("atol", c_double),
        ("state", c_void_p),
        ("slope", c_void_p),
        ("next", c_void_p),
        ("next_slope", c_void_p),
        ("middle", c_void_p),
        ("error", c_void_p),
        ("next_gradient", c_void_p),
        ("next_slope_gradient", c_void_p),
        ("middle_gradient", c_void_p),
        ("first_slope_gradient", c_void_p),
        ("state_gradient", c_void_p),
        ("slope_gradient", c_void_p),
        ("seconds", c_void_p),
    ]


class DenseStructure(Structure):
    """DcnbioDense."""

    _fields_: ClassVar = [
        ("count", c_int64),
        ("threads", c_int32),
        ("pixels", c_int32),
        ("channels", c_int32),
        ("rows", POINTER(c_int64)),
        ("places", POINTER(c_int64)),
        ("weights", c_void_p),
        ("parts", c_void_p * 5),
        ("path", c_void_p),
    ]


def declare(library: ctypes.CDLL) -> None:
    """Give every entry point its argument and result types."""
    for dtype in ("float32", "float64"):
        size = getattr(library, f"dcnbio_packed_size_{dtype}")
        size.argtypes, size.restype = [POINTER(FieldStructure), c_int32, c_int32], c_int64
        pack = getattr(library, f"dcnbio_pack_{dtype}")
        pack.argtypes, pack.restype = [POINTER(FieldStructure), c_int32], None
        for name in ("evaluate", "attempt", "evaluate_gradient", "attempt_gradient"):
            call = getattr(library, f"dcnbio_{name}_{dtype}")
            call.argtypes, call.restype = [POINTER(FieldStructure), POINTER(BatchStructure)], c_int32
        dense = getattr(library, f"dcnbio_dense_{dtype}")
        dense.argtypes, dense.restype = [POINTER(DenseStructure)], c_int32
        for name, maps in (("layer", 2), ("layer_gradient", 3)):
            call = getattr(library, f"dcnbio_{name}_{dtype}")
            call.argtypes, call.restype = [POINTER(LayerStructure), *[c_void_p] * maps], c_int32
