"""Deep Continuous Networks and their baselines: stem, blocks, what lies between them, and the readout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count
from dcnbio.model.apart import one_by_one
from dcnbio.model.html_summary import html_table, spec_rows
from dcnbio.model.initial import initialise
from dcnbio.model.network_input import check_images, refuse_transforms, refuse_unseen_hooks
from dcnbio.model.ode_block import ODEBlock, ResidualBlock, TimesRequest
from dcnbio.model.own_fields import FieldMaker, own_fields
from dcnbio.model.patch import Patch
from dcnbio.model.pixel_conv import pixel_conv
from dcnbio.model.rows import row_spec
from dcnbio.model.shapes import Logits
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.srf_conv import SRFConv2d
from dcnbio.model.uncompiled import uncompiled
from dcnbio.model.unsolved import refuse_unsolved
from dcnbio.model.vector_field import ConvField, FieldConv

__all__ = ["Network", "Run", "build"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"celu": nn.functional.celu, "relu": nn.functional.relu}


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
        self._spec = spec
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

    @property
    def spec(self) -> NetworkSpec:
        """What the network is made of, with the integration times that its blocks have now."""
        times = tuple(float(block.integration_time) for block in self.blocks)  # type: ignore[arg-type]
        if times == self._spec.integration_time:
            return self._spec
        return self._spec.with_overrides(integration_time=times)

    def _norm(self, channels: int) -> nn.GroupNorm:
        return nn.GroupNorm(self._spec.groups(channels), channels)

    def _stem(self, outputs: int) -> FieldConv:
        if self._spec.outer_kernels == "srf":
            return SRFConv2d(3, outputs, self._spec.outer_scale_rule)
        return pixel_conv(3, outputs, 3)

    def _downsampling(self, inputs: int, outputs: int) -> FieldConv:
        if self._spec.outer_kernels == "srf":
            return SRFConv2d(inputs, outputs, self._spec.outer_scale_rule, stride=2)
        return pixel_conv(inputs, outputs, 4, stride=2, padding=1)

    def _block(self, width: int, time: float, field: nn.Module | None) -> ODEBlock | ResidualBlock:
        norm = partial(self._norm, width)
        if self._spec.depth == "residual":
            conv = partial(self._block_conv, width, width, bias=False)
            return ResidualBlock(conv, norm, self.activation)
        conv = partial(self._block_conv, width + 1, width, bias=True)
        return ODEBlock(field if field is not None else ConvField(conv, norm, self.activation), time)

    def _block_conv(self, inputs: int, outputs: int, *, bias: bool) -> FieldConv:
        if self._spec.kernels == "pixel":
            return pixel_conv(inputs, outputs, 3, padding=1, bias=bias)
        return SRFConv2d(inputs, outputs, self._spec.scale_rule)

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
        images = self.checked(images)
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

    def checked(self, images: Tensor) -> Tensor:
        """Give images back that the network can take as it is now; refuse others, in words that name the fix."""
        refuse_transforms([images] if isinstance(images, Tensor) else [])
        refuse_transforms(list(self.parameters()))
        for number, block in enumerate(self.blocks):
            if isinstance(block, ODEBlock):
                refuse_unseen_hooks(block, f"blocks.{number}")
        return check_images(images, self.spec, next(self.readout.parameters()))

    @uncompiled
    def forward(self, images: Tensor) -> Logits:
        """Give logits, shape (n, classes), of images (n, 3, y, x) in [0, 1].

        ``torch.autocast`` does not reach inside, and ``torch.compile`` leaves it as it is.

        Raises
        ------
        InputError
            If these are no images for this network, or a transform, a trace or a hook asks for what it cannot do.
        SolverError
            If a block could not be solved; the message names block, time and cause.
        """
        run = self.run(images)
        for number, solution in enumerate(run.blocks, 1):
            refuse_unsolved(solution, f"block {number}", images)
        return run.logits

    def _repr_html_(self) -> str:
        """Show a small table in a notebook."""
        parameters = f"{sum(p.numel() for p in self.parameters()):,}"
        about = {**spec_rows(self.spec.to_dict()), "parameters": parameters, **self.source}
        return html_table(f"Network {self.spec.row}", about)

    def extra_repr(self) -> str:
        """Name the row."""
        return f"row={self.spec.row}, {sum(p.numel() for p in self.parameters()):,} parameters"


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

    Raises
    ------
    InputError
        If the row or a setting is unknown or not allowed, the seed is below 0, or `vector_field` is given for a row of
        residual blocks or does not fit the blocks.

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
