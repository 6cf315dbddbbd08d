"""Which form a structured receptive field runs in: separable filters and a mixing, or one dense kernel."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from dcnbio.model.engine import available
from dcnbio.model.gaussian import basis_orders
from dcnbio.model.srf_rule import ScaleRule

__all__ = ["Form", "convolution_form", "engine_takes"]

Form = Literal["separable", "direct"]
HIGHEST_SEPARABLE_ORDER = 4
# A filter's multiply-add costs this many of the mixing's: measured, filters move data where the mixing reuses it.
FILTER_WEIGHT = 3


def convolution_form(rule: ScaleRule, channels: tuple[int, int], size: int) -> Form:
    """Choose the cheaper form by multiply-adds per pixel, so that the same layer always runs the same way.

    Separable: F C C' for the mixing and (N + 1) k (C + C') for the filters along x and y. Direct: k^2 C C'.

    Parameters
    ----------
    rule : ScaleRule
        Its order N, and whether sigma is shared: one sigma per channel pair has no separable form.
    channels : tuple of int
        Inputs C and outputs C'.
    size : int
        Width k of the kernel in pixels.

    Examples
    --------
    >>> convolution_form(ScaleRule(), (32, 32), 11), convolution_form(ScaleRule(per_pair=True), (32, 32), 7)
    ('separable', 'direct')
    >>> convolution_form(ScaleRule(order=4), (32, 32), 3)
    'direct'
    """
    if rule.per_pair or rule.order > HIGHEST_SEPARABLE_ORDER:
        return "direct"
    inputs, outputs = channels
    mixing = len(basis_orders(rule.order)) * inputs * outputs
    filters = (rule.order + 1) * size * (inputs + outputs)
    return "separable" if mixing + FILTER_WEIGHT * filters < size**2 * inputs * outputs else "direct"


def engine_takes(maps: Tensor) -> bool:
    """Whether the compiled engine can work on these maps: float32 or float64 on the CPU, and it is there.

    Under a function transform (``torch.func``) plain torch is used, since compiled code has no rule for it.
    """
    plain = not torch._C._functorch.is_functorch_wrapped_tensor(maps)
    return plain and maps.device.type == "cpu" and maps.dtype in (torch.float32, torch.float64) and bool(available())


def layer_forms(net: nn.Module) -> dict[str, str]:
    """Name the form of every layer that can have one, for a recording's provenance."""
    forms = ((name, getattr(module, "form", None)) for name, module in net.named_modules())
    return {name: str(form) for name, form in forms if form is not None}
