"""Structured receptive fields: convolution with kernels that are weighted sums of Gaussian derivatives.

References
----------
.. [1] Jacobsen, J.-H., van Gemert, J., Lou, Z. and Smeulders, A. (2016). Structured receptive fields in CNNs. CVPR.
   doi:10.1109/CVPR.2016.286.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dcnbio.model.convolution_form import Form, convolution_form, engine_takes
from dcnbio.model.convolution_precision import convolve
from dcnbio.model.device import double
from dcnbio.model.engine import separable_conv2d
from dcnbio.model.gaussian import basis_orders, gaussian_taps, jet_basis, window_half_width
from dcnbio.model.srf_rule import ScaleRule
from dcnbio.model.time_polynomial import TimePolynomial

__all__ = ["SRFConv2d"]

LARGE_KERNEL = 15  # pixels: what the form of a layer is chosen for whose scale changes with time


class SRFConv2d(nn.Module):
    """Convolve with F(x, y; sigma) = sum over l + k <= N of alpha_lk d^(l+k) G / dx^l dy^k (eq. 1); no bias.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    rule : ScaleRule
        Order, sharing and window of the scales.
    stride : int
        Step in pixels; the input is zero-padded by the kernel's half-width.

    Attributes
    ----------
    alpha : TimePolynomial, shape (F, inputs, outputs)
    log2_sigma : TimePolynomial, shape (1,) or (inputs, outputs)
        sigma = 2^log2_sigma pixels.

    Examples
    --------
    >>> conv = SRFConv2d(3, 8, ScaleRule())
    >>> tuple(conv(torch.zeros(2, 3, 32, 32)).shape)
    (2, 8, 32, 32)
    """

    def __init__(self, inputs: int, outputs: int, rule: ScaleRule, stride: int = 1) -> None:
        super().__init__()
        self.inputs, self.outputs, self.rule, self.stride = inputs, outputs, rule, stride
        functions = len(basis_orders(rule.order))
        self.alpha = TimePolynomial((functions, inputs, outputs), rule.alpha_degree)
        self.log2_sigma = TimePolynomial((inputs, outputs) if rule.per_pair else (1,), rule.sigma_degree)

    @property
    def time_dependent(self) -> bool:
        """Whether the kernel changes with solver time."""
        return self.rule.sigma_degree > 0 or self.rule.alpha_degree > 0

    def sigma(self, t: Tensor) -> Tensor:
        """Give the scale in pixels at scalar solver time `t`, shape (1,) or (inputs, outputs), in float64."""
        scale: Tensor = torch.exp2(double(self.log2_sigma(t)))
        return scale

    def taps(self, t: Tensor) -> Tensor:
        """Give the one-dimensional filters at time `t`, shape (..., N + 1, k), in float64 whatever the weights' dtype.

        They are a few numbers, on which everything else rests. `t` may hold many times where one sigma is shared; the
        filters then have its shape, and the shorter are padded with zeros to the longest.
        """
        if self.rule.per_pair:
            return gaussian_taps(self.sigma(t), self.rule.order, (self.rule.pair_size - 1) // 2)
        sigma = self.sigma(t.unsqueeze(-1))[..., 0]
        return gaussian_taps(sigma, self.rule.order, window_half_width(sigma, self.rule.extent))

    def kernel(self, t: Tensor) -> Tensor:
        """Build the dense kernel at time `t`, shape (outputs, inputs, k, k)."""
        alpha: Tensor = self.alpha(t)
        taps = self.taps(t).to(alpha)
        if self.rule.per_pair:
            return pair_kernel(alpha, taps)
        return torch.einsum("fio,fyx->oiyx", alpha, jet_basis(taps))

    @property
    def form(self) -> Form:
        """The form this layer runs in where the engine is there."""
        rule = self.rule
        if rule.sigma_degree > 0 or rule.alpha_degree > 0:
            return convolution_form(rule, (self.inputs, self.outputs), LARGE_KERNEL)
        size = self.taps(torch.zeros((), device=self.alpha.offset.device)).shape[-1]
        return convolution_form(rule, (self.inputs, self.outputs), size)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve maps (n, inputs, y, x) at time 0, in the cheaper form."""
        zero = torch.zeros((), dtype=x.dtype, device=x.device)
        if self.form == "separable" and engine_takes(x):
            alpha: Tensor = self.alpha(zero)
            return separable_conv2d(x, self.taps(zero).to(x.dtype), alpha, self.stride)
        kernel = self.kernel(zero)
        return convolve(x, kernel, stride=self.stride, padding=(kernel.shape[-1] - 1) // 2)


def pair_kernel(alpha: Tensor, taps: Tensor) -> Tensor:
    """Build kernels with a sigma per channel pair, filters along x summed before those along y are put to them.

    The basis functions themselves, F times as many numbers as the kernel has, are never built.

    Parameters
    ----------
    alpha : Tensor, shape (F, inputs, outputs)
    taps : Tensor, shape (inputs, outputs, N + 1, k)

    Returns
    -------
    Tensor, shape (outputs, inputs, k, k)

    Examples
    --------
    >>> tuple(pair_kernel(torch.zeros(6, 3, 2), torch.zeros(3, 2, 3, 7)).shape)
    (2, 3, 7, 7)
    """
    terms = taps.shape[-2]
    along_y, along_x = (torch.tensor(orders) for orders in zip(*basis_orders(terms - 1), strict=True))
    square = alpha.new_zeros(terms, terms, *alpha.shape[1:]).index_put((along_y, along_x), alpha)
    summed = torch.einsum("abio,iobx->ioax", square, taps)
    return torch.einsum("ioay,ioax->oiyx", taps, summed)
