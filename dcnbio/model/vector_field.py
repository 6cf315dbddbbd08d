"""The vector field of an ODE block (eq. 2): two convolutions with a time channel, each followed by group norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dcnbio.model.convolution_precision import convolution_type, convolutions_in, convolve
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.srf_conv import SRFConv2d

__all__ = ["ConvField", "FieldConv", "PreparedField"]

FieldConv = SRFConv2d | PixelConv2d


@dataclass(frozen=True)
class TimeConv:
    """A convolution of maps and the constant plane t, which is its first input channel, with fixed kernels.

    Attributes
    ----------
    kernel : Tensor, shape (c, c, k, k)
    time_map : Tensor, shape (1, c, y, x)
        The convolution of a plane of ones with the time channel's kernels: zero padding makes it fall off at the
        border. The time channel adds t times this, so that no plane of value t is ever convolved.
    bias : Tensor or None, shape (c,)
    """

    kernel: Tensor
    time_map: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, conv: FieldConv, t: Tensor, like: Tensor) -> TimeConv:
        """Build the kernels of `conv` at solver time `t` for maps such as `like`, shape (n, c, y, x)."""
        kernel = conv.kernel(t)
        ones = torch.ones((1, 1, *like.shape[-2:]), dtype=like.dtype, device=like.device)
        padding = (kernel.shape[-1] - 1) // 2
        time_map = nn.functional.conv2d(ones, kernel[:, :1], padding=padding)
        return cls(kernel[:, 1:].contiguous(), time_map, conv.bias if isinstance(conv, PixelConv2d) else None)

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Convolve `h`, shape (n, c, y, x), at time `t`, a scalar or one per image, shape (n,)."""
        maps = convolve(h, self.kernel, self.bias, padding=(self.kernel.shape[-1] - 1) // 2)
        return maps + t.to(h.dtype).reshape(-1, 1, 1, 1) * self.time_map

    def tensors(self) -> tuple[Tensor, ...]:
        """List what the convolution depends on."""
        return (self.kernel, self.time_map) if self.bias is None else (self.kernel, self.time_map, self.bias)


@dataclass(frozen=True)
class PreparedField:
    """A vector field made ready for one solve: kernels that do not depend on t are built once.

    Attributes
    ----------
    field : ConvField
    convs : tuple of TimeConv, or None
        None where the kernels change with t and are built at each evaluation.
    precision : torch.dtype or None
        What the convolutions are computed in, of when the field was made ready: the backward pass evaluates it again,
        later and, on a GPU, in another thread.
    """

    field: ConvField
    convs: tuple[TimeConv, TimeConv] | None
    precision: torch.dtype | None = None

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt, shape (n, c, y, x), at time `t`, a scalar or one per image, shape (n,)."""
        with convolutions_in(self.precision):
            return self.slope(t, h)

    def slope(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt in the precision that holds now."""
        if self.convs is not None:
            return self.field.evaluate(t, h, self.convs)
        if t.ndim == 0 or bool((t == t[0]).all()):
            slope: Tensor = self.field(t.reshape(-1)[0], h)
            return slope
        return torch.cat([self.field(t[i], h[i : i + 1]) for i in range(len(h))])

    def tensors(self) -> tuple[Tensor, ...]:
        """List the tensors that dh/dt depends on and that gradients are wanted of."""
        if self.convs is None:
            return tuple(self.field.parameters())
        norms = (p for norm in self.field.norms for p in norm.parameters())
        return (*self.convs[0].tensors(), *self.convs[1].tensors(), *norms)


class ConvField(nn.Module):
    """dh/dt = Gnorm[K2 * g(K1 * g(h) + d1 t) + d2 t] with g(x) = activation(Gnorm(x)) (eq. 2 of [1]_).

    Parameters
    ----------
    conv : callable
        Makes one of the two convolutions, with c + 1 inputs and c outputs; the first input is the time channel.
    norm : callable
        Makes one of the three group norms.
    activation : callable
        g's nonlinearity, for instance ``torch.nn.functional.celu``.

    Notes
    -----
    The last norm fixes, for each image and group, the mean and root mean square of dh/dt: h(t) moves at a constant
    speed and never settles, so |h| grows whatever the image.

    References
    ----------
    .. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.

    Examples
    --------
    >>> from dcnbio.model.srf_rule import ScaleRule
    >>> field = ConvField(lambda: SRFConv2d(9, 8, ScaleRule()), lambda: nn.GroupNorm(8, 8), nn.functional.celu)
    >>> tuple(field(torch.tensor(0.0), torch.randn(2, 8, 6, 6)).shape)
    (2, 8, 6, 6)
    """

    def __init__(
        self,
        conv: Callable[[], FieldConv],
        norm: Callable[[], nn.GroupNorm],
        activation: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.norm1, self.conv1 = norm(), conv()
        self.norm2, self.conv2 = norm(), conv()
        self.norm3 = norm()
        self.activation = activation

    @property
    def convs(self) -> tuple[FieldConv, FieldConv]:
        """The two convolutions, in the order they are applied."""
        return self.conv1, self.conv2

    @property
    def norms(self) -> tuple[nn.GroupNorm, nn.GroupNorm, nn.GroupNorm]:
        """The three group norms, in the order they are applied."""
        return self.norm1, self.norm2, self.norm3

    def evaluate(self, t: Tensor, h: Tensor, convs: tuple[TimeConv, TimeConv]) -> Tensor:
        """Evaluate eq. 2 with given kernels."""
        maps = convs[0](t, self.activation(self.norm1(h)))
        maps = convs[1](t, self.activation(self.norm2(maps)))
        slope: Tensor = self.norm3(maps)
        return slope

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """Evaluate dh/dt, shape (n, c, y, x), at the scalar solver time `t`."""
        return self.evaluate(t, h, (TimeConv.of(self.conv1, t, h), TimeConv.of(self.conv2, t, h)))

    def prepare(self, like: Tensor) -> PreparedField:
        """Build once per solve what does not depend on t, for maps such as `like`."""
        if any(conv.time_dependent for conv in self.convs):
            return PreparedField(self, None, convolution_type())
        zero = torch.zeros((), dtype=like.dtype, device=like.device)
        convs = (TimeConv.of(self.conv1, zero, like), TimeConv.of(self.conv2, zero, like))
        return PreparedField(self, convs, convolution_type())
