"""Deep Continuous Networks and their baselines: stem, blocks, what lies between them, and the readout."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from dcnbio.errors import InputError, SolverError
from dcnbio.images.number_checks import count
from dcnbio.model.apart import one_by_one
from dcnbio.model.html_summary import html_table, spec_rows
from dcnbio.model.initial import initialise
from dcnbio.model.ode_block import ODEBlock, ResidualBlock, TimesRequest
from dcnbio.model.patch import Patch
from dcnbio.model.pixel_conv import PixelConv2d
from dcnbio.model.rows import row_spec
from dcnbio.model.shapes import Logits
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.status import Status, explain
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = ["Network", "Run", "build"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"celu": nn.functional.celu, "relu": nn.functional.relu}
FieldMaker = nn.Module | Sequence[nn.Module] | Callable[[int], nn.Module]


@dataclass(frozen=True)
class Run:
    """What one pass of a batch through a network gave.

    Attributes
    ----------
    logits : Tensor, shape (n, classes)
    blocks : tuple of Solution
        One per block, in order.
    """

    logits: Tensor
    blocks: tuple[Solution, ...]


class Transition(nn.Module):
    """Norm, activation and a convolution with stride 2: from one block to the next."""

    def __init__(self, norm: nn.GroupNorm, activation: Callable[[Tensor], Tensor], conv: FieldConv) -> None:
        super().__init__()
        self.norm, self.activation, self.conv = norm, activation, conv

    def forward(self, h: Tensor) -> Tensor:
        """Halve the maps and widen them."""
        maps: Tensor = self.conv(self.activation(self.norm(h)))
        return maps


class Readout(nn.Module):
    """Norm, activation, global average and a linear map to the classes."""

    def __init__(self, norm: nn.GroupNorm, activation: Callable[[Tensor], Tensor], linear: nn.Linear) -> None:
        super().__init__()
        self.norm, self.activation, self.linear = norm, activation, linear

    def forward(self, h: Tensor) -> Tensor:
        """Give logits, shape (n, classes)."""
        logits: Tensor = self.linear(self.activation(self.norm(h)).mean((2, 3)))
        return logits


class Network(nn.Module):
    """A network of one of the paper's rows, or of a user's own spec.

    Parameters
    ----------
    spec : NetworkSpec
    fields : sequence of nn.Module, optional
        A user's own vector fields, one per block, in place of eq. 2.

    Attributes
    ----------
    solver : SolverSettings
        Used by a plain call; replace it to change tolerance, method or gradients.

    Notes
    -----
    A plain call steps the whole batch together, as the paper does: logits then depend, within the tolerance, on which
    images share a batch. ``run`` with ``stepping="per-image"`` does not.

    Examples
    --------
    >>> net = build("dcn-ode", widths=(8, 16), norm_groups=4)
    >>> net.spec.row, net.block(1).integration_time, len(net.blocks)
    ('dcn-ode', 2.0, 2)
    """

    def __init__(self, spec: NetworkSpec, fields: Sequence[nn.Module] | None = None) -> None:
        super().__init__()
        self.spec = spec
        self.solver = SolverSettings()
        self.source: dict[str, Any] = {}
        self.activation = ACTIVATIONS[spec.activation]
        widths = spec.widths
        self.stem = self._stem(widths[0])
        self.blocks = nn.ModuleList(
            self._block(width, time, None if fields is None else fields[i])
            for i, (width, time) in enumerate(zip(widths, spec.integration_time, strict=True))
        )
        self.transitions = nn.ModuleList(
            Transition(self._norm(a), self.activation, self._downsampling(a, b)) for a, b in itertools.pairwise(widths)
        )
        linear: nn.Linear = nn.utils.skip_init(nn.Linear, widths[-1], spec.classes)  # type: ignore[no-untyped-call]
        self.readout = Readout(self._norm(widths[-1]), self.activation, linear)

    def _norm(self, channels: int) -> nn.GroupNorm:
        return nn.GroupNorm(self.spec.groups(channels), channels)

    def _stem(self, outputs: int) -> FieldConv:
        if self.spec.outer_kernels == "srf":
            return SRFConv2d(3, outputs, self.spec.outer_scale_rule)
        return pixel_conv(3, outputs, 3)

    def _downsampling(self, inputs: int, outputs: int) -> FieldConv:
        if self.spec.outer_kernels == "srf":
            return SRFConv2d(inputs, outputs, self.spec.outer_scale_rule, stride=2)
        return pixel_conv(inputs, outputs, 4, stride=2, padding=1)

    def _block(self, width: int, time: float, field: nn.Module | None) -> ODEBlock | ResidualBlock:
        norm = partial(self._norm, width)
        if self.spec.depth == "residual":
            conv = partial(self._block_conv, width, width, bias=False)
            return ResidualBlock(conv, norm, self.activation)
        conv = partial(self._block_conv, width + 1, width, bias=True)
        return ODEBlock(field if field is not None else ConvField(conv, norm, self.activation), time)

    def _block_conv(self, inputs: int, outputs: int, *, bias: bool) -> FieldConv:
        if self.spec.kernels == "pixel":
            return pixel_conv(inputs, outputs, 3, padding=1, bias=bias)
        return SRFConv2d(inputs, outputs, self.spec.scale_rule)

    def block(self, number: int) -> ODEBlock | ResidualBlock:
        """Give a block by its number, from 1."""
        if not (isinstance(number, int | np.integer) and 1 <= number <= len(self.blocks)):
            raise InputError(f"block is {number}; {self.spec.row} has blocks 1 to {len(self.blocks)}.")
        return cast("ODEBlock | ResidualBlock", self.blocks[number - 1])

    def run(
        self,
        images: Tensor,
        solver: SolverSettings | None = None,
        times: TimesRequest | dict[int, TimesRequest] = 2,
        patches: Sequence[Patch] = (),
    ) -> Run:
        """Pass images through the network and keep the path of every block; nothing is raised when a solve fails.

        Parameters
        ----------
        images : Tensor, shape (n, 3, y, x), in [0, 1]
        solver : SolverSettings, optional
            The network's own by default.
        times : int, list of float, Tensor, or dict of them by block number
            Solver times to keep, see `solve_times`; T is always added as the last. "accepted" keeps h where a solver's
            step ended, see `solve_accepted`. Blocks that a dict leaves out keep their input and output.
        patches : sequence of Patch
            Changes of h on the way, each at its solver time in its block, from which the solve goes on.

        Returns
        -------
        Run
            Images whose solve ended early have NaN logits.
        """
        images = self._checked(images)
        for patch in patches:
            block = self.block(patch.block)
            patch.check(block.integration_time, ends_only=isinstance(block, ResidualBlock))
        solver = solver or self.solver
        by_block = times if isinstance(times, dict) else dict.fromkeys(range(1, len(self.blocks) + 1), times)
        h = one_by_one(self.stem, images, solver.stepping == "per-image")
        return self._from_block(1, h, solver, by_block, patches)

    def _from_block(
        self, first: int, h: Tensor, solver: SolverSettings, times: dict[int, TimesRequest], patches: Sequence[Patch]
    ) -> Run:
        """Go on from the input of a block; after the last, its output `h` is read out."""
        apart = solver.stepping == "per-image"
        solutions = []
        for number in range(first, len(self.blocks) + 1):
            own = [patch for patch in patches if patch.block == number]
            solution = self.block(number).run(h, solver, times.get(number, 2), own)
            solutions.append(solution)
            h = solution.final
            if number <= len(self.transitions):
                h = one_by_one(self.transitions[number - 1], h, apart)
        return Run(one_by_one(self.readout, h, apart), tuple(solutions))

    def run_on(
        self, h: Tensor, block: int, solver: SolverSettings | None = None, patches: Sequence[Patch] = ()
    ) -> Logits:
        """Pass a block's hidden state through the rest of the network, as if it were h(T).

        Parameters
        ----------
        h : Tensor, shape (n, c, y, x)
            For instance h at an earlier time.
        block : int
            The block it is of, from 1.
        solver : SolverSettings, optional
            Of the blocks after it; the network's own by default.
        patches : sequence of Patch
            Changes of h in the blocks after it.

        Returns
        -------
        Tensor, shape (n, classes)
            NaN where a later block's solve ended early.
        """
        self.block(block)  # for its refusal
        solver = solver or self.solver
        if block <= len(self.transitions):
            h = one_by_one(self.transitions[block - 1], h, solver.stepping == "per-image")
        return self._from_block(block + 1, h, solver, {}, patches).logits

    def _checked(self, images: Tensor) -> Tensor:
        if images.ndim != 4 or images.shape[1] != 3 or not images.is_floating_point():
            raise InputError(
                f"images have shape {tuple(images.shape)} and type {images.dtype}; a network takes floating-point "
                "RGB images of shape (n, 3, 32, 32) in [0, 1], so divide bytes by 255 and put the channel first."
            )
        weight = next(self.readout.parameters())
        if images.dtype != weight.dtype or images.device != weight.device:
            raise InputError(
                f"images are {images.dtype} on {images.device} but the network is {weight.dtype} on {weight.device}; "
                "use images.to(weight) or net.to(images.dtype)."
            )
        return images

    def forward(self, images: Tensor) -> Logits:
        """Give logits, shape (n, classes), of images (n, 3, y, x) in [0, 1].

        Raises
        ------
        SolverError
            If a block could not be solved; the message names block, time and cause.
        """
        run = self.run(images)
        for number, solution in enumerate(run.blocks, 1):
            if not solution.ok:
                first = int((solution.work.status != Status.OK).nonzero()[0, 0])
                reason = explain(
                    int(solution.work.status[first]), f"block {number}", float(solution.work.reached[first])
                )
                raise SolverError(f"image {first} of the batch was not solved: {reason}; check the images and weights.")
        return run.logits

    def _repr_html_(self) -> str:
        """Show a small table in a notebook."""
        parameters = f"{sum(p.numel() for p in self.parameters()):,}"
        about = {**spec_rows(self.spec.to_dict()), "parameters": parameters, **self.source}
        return html_table(f"Network {self.spec.row}", about)

    def extra_repr(self) -> str:
        """Name the row."""
        return f"row={self.spec.row}, {sum(p.numel() for p in self.parameters()):,} parameters"


def pixel_conv(inputs: int, outputs: int, size: int, **options: Any) -> PixelConv2d:
    """Make a convolution with free weights that draws nothing from the global generator."""
    conv: PixelConv2d = nn.utils.skip_init(PixelConv2d, inputs, outputs, size, **options)  # type: ignore[no-untyped-call]
    return conv


def own_fields(maker: FieldMaker, widths: tuple[int, ...]) -> list[nn.Module]:
    """Make one vector field per block of a module, a list of modules or a function of the channels."""
    if isinstance(maker, nn.Module) and not isinstance(maker, nn.ModuleList):
        return [copy.deepcopy(maker) for _ in widths]
    made = (
        [maker(width) for width in widths] if callable(maker) and not isinstance(maker, nn.ModuleList) else list(maker)
    )
    if len(made) != len(widths) or not all(isinstance(field, nn.Module) for field in made):
        raise InputError(
            f"vector_field gives {len(made)} fields for {len(widths)} blocks; give one module f(t, h), a list of one "
            "module per block, or a function of the number of channels that makes one."
        )
    return made


def build(
    row: str | NetworkSpec, seed: int = 0, *, vector_field: FieldMaker | None = None, **overrides: Any
) -> Network:
    """Build an untrained network of a named row.

    Parameters
    ----------
    row : str or NetworkSpec
        One of the paper's rows, see `dcnbio.ROWS`, or a spec.
    seed : int
        Of the generator that draws the initial values; the global generator is not touched.
    vector_field : nn.Module, list of nn.Module or callable, optional
        Your own f(t, h) in place of eq. 2: one module that suits every block (each gets its own copy), one per block,
        or a function of the number of channels. Check it with `check_vector_field` first. Its values are left as made.
    **overrides
        Settings of `NetworkSpec`: integration_time, kernel_order, widths, activation, norm_groups, window, ...

    Returns
    -------
    Network

    Examples
    --------
    >>> net = build("dcn-ode", widths=(8, 16), integration_time=0.5, norm_groups=4)
    >>> tuple(net(torch.rand(2, 3, 32, 32)).shape)
    (2, 10)
    """
    count("seed", seed, 0)
    spec = row_spec(row, **overrides) if isinstance(row, str) else row.with_overrides(**overrides)
    fields = None
    if vector_field is not None:
        if spec.depth != "ode":
            raise InputError(
                f"vector_field is given, but {spec.row} has residual blocks; choose a row with ODE blocks."
            )
        fields = own_fields(vector_field, spec.widths)
        name = f"{type(fields[0]).__module__}.{type(fields[0]).__qualname__}"
        spec = NetworkSpec.from_dict({**spec.to_dict(), "vector_field": name})
    net = Network(spec, fields)
    initialise(net, torch.Generator().manual_seed(seed), leave=fields or ())
    net.source = {"built": spec.row, "seed": seed}
    return net
