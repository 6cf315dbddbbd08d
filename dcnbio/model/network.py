"""A Deep Continuous Network: a stem, ODE blocks with a transition from each to the next, and a readout.

For B blocks (figure 2 of [1]_)::

    h_1(0)     = stem(image)                        convolution of RGB
    dh_b / dt  = f_b(t, h_b), t from 0 to T_b       ODE block b
    h_b+1(0)   = transition_b(h_b(T_b))             norm, activation, convolution with stride 2
    logits     = readout(h_B(T_B))                  norm, activation, average over the map, linear

f_b is eq. 2 (`dcnbio.model.vector_field`), its kernels are sums of Gaussian derivatives, eq. 1
(`dcnbio.model.srf_conv`). The layers are made in `dcnbio.model.layers`, a block is solved in `dcnbio.model.ode_block`,
and the paper's networks have their names and settings in `dcnbio.model.rows`.

References
----------
.. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count
from dcnbio.model.apart import one_by_one
from dcnbio.model.html_summary import html_table, spec_rows
from dcnbio.model.initial import initialise
from dcnbio.model.layers import ACTIVATIONS, block_layer, readout_layer, stem_layer, transition_layer
from dcnbio.model.network_input import check_images, refuse_transforms, refuse_unseen_hooks
from dcnbio.model.ode_block import ODEBlock, ResidualBlock, TimesRequest
from dcnbio.model.own_fields import FieldMaker, own_fields
from dcnbio.model.patch import Patch
from dcnbio.model.rows import row_spec
from dcnbio.model.shapes import Logits
from dcnbio.model.solution import Run
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.uncompiled import uncompiled
from dcnbio.model.unsolved import refuse_unsolved

__all__ = ["Network", "Run", "build"]


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
        own = [None] * len(spec.widths) if fields is None else fields
        layers = zip(spec.widths, spec.integration_time, own, strict=True)
        self.stem = stem_layer(spec)
        self.blocks = nn.ModuleList(block_layer(spec, width, time, field) for width, time, field in layers)
        self.transitions = nn.ModuleList(transition_layer(spec, a, b) for a, b in itertools.pairwise(spec.widths))
        self.readout = readout_layer(spec)

    @property
    def spec(self) -> NetworkSpec:
        """What the network is made of, with the integration times that its blocks have now."""
        times = tuple(float(block.integration_time) for block in self.blocks)  # type: ignore[arg-type]
        if times == self._spec.integration_time:
            return self._spec
        return self._spec.with_overrides(integration_time=times)

    def block(self, number: int) -> ODEBlock | ResidualBlock:
        """Give a block by its number, from 1."""
        if not (isinstance(number, int | np.integer) and 1 <= number <= len(self.blocks)):
            raise InputError(f"block is {number}; {self.spec.row} has blocks 1 to {len(self.blocks)}.")
        return cast("ODEBlock | ResidualBlock", self.blocks[number - 1])

    @uncompiled
    def forward(self, images: Tensor) -> Logits:
        """Give logits, shape (n, classes), of images (n, 3, y, x) in [0, 1].

        ``torch.autocast`` does not reach inside, and ``torch.compile`` leaves it as it is. Take gradients outside
        ``torch.autocast``: a backward pass inside it warns, since torch rounds some of them to half precision there.

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

    @uncompiled
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
        return self._pass_on(images, 0, solver, by_block, patches)

    @uncompiled
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
        return self._pass_on(h, block, solver or self.solver, {}, patches).logits

    def _pass_on(
        self, h: Tensor, behind: int, solver: SolverSettings, times: dict[int, TimesRequest], patches: Sequence[Patch]
    ) -> Run:
        """Pass images, or h(T) of the last of the blocks that are `behind` it, through all that follows."""
        apart = solver.stepping == "per-image"
        entrances = [self.stem, *self.transitions]
        solutions = []
        for number in range(behind + 1, len(self.blocks) + 1):
            h = one_by_one(entrances[number - 1], h, apart)
            own = [patch for patch in patches if patch.block == number]
            solution = self.block(number).run(h, solver, times.get(number, 2), own)
            solutions.append(solution)
            h = solution.final
        return Run(one_by_one(self.readout, h, apart), tuple(solutions))

    def checked(self, images: Tensor) -> Tensor:
        """Give images back that the network can take as it is now; refuse others, in words that name the fix."""
        refuse_transforms([images] if isinstance(images, Tensor) else [])
        refuse_transforms(list(self.parameters()))
        for number, block in enumerate(self.blocks):
            if isinstance(block, ODEBlock):
                refuse_unseen_hooks(block, f"blocks.{number}")
        return check_images(images, self.spec, next(self.readout.parameters()))

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
        fields, spec = own_fields(vector_field, spec)
    net = Network(spec, fields)
    initialise(net, torch.Generator().manual_seed(seed), leave=fields or ())
    net.source = {"built": spec.row, "seed": seed}
    return net
