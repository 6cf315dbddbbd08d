"""Networks whose norms' statistics are held: at those of reference images, or at each image's own for gradients."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count
from dcnbio.model.given_network import check_network
from dcnbio.model.interventions.norm_statistics import (
    Clock,
    ClockedField,
    FixedNorm,
    HeldNorm,
    LentNorm,
    Moments,
    group_moments,
    group_norms,
)
from dcnbio.model.interventions.noted import noted
from dcnbio.model.interventions.separable_field import with_separable_filters
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.unsolved import refuse_unsolved

__all__ = ["freeze_norms", "hold_norms", "lend_norms"]

LEAST_SPREAD = 3.0  # a reference's standard deviation over sqrt(eps) below which eps, not the image, would be the norm


def changed_norms(net: Network, change: Callable[[nn.GroupNorm], nn.Module]) -> Network:
    """Give a copy whose norms are changed; its fields leave the engine's own steps, which have group norms."""
    check_network(net)
    changed = copy.deepcopy(net)
    for owner, name, norm in list(group_norms(changed)):
        setattr(owner, name, change(norm))
    for block in changed.blocks:
        if isinstance(block, ODEBlock):
            block.field = ClockedField(with_separable_filters(block.field), Clock())
    return changed


def hold_norms(net: Network) -> Network:
    """Give a copy with the same values, whose gradients do not flow through the norms' statistics.

    Parameters
    ----------
    net : Network

    Returns
    -------
    Network
        In plain torch.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(8,), norm_groups=8)
    >>> images = torch.rand(2, 3, 32, 32)
    >>> bool(torch.allclose(hold_norms(net)(images), net(images), atol=1e-2))
    True
    """
    return changed_norms(net, HeldNorm)


@torch.no_grad()
def freeze_norms(net: Network, images: Tensor, times: int = 25) -> Network:
    """Give a copy whose norms use the mean statistics of reference images at the same solver time.

    What normalisation by the image itself does (saturation, suppression, latency that follows contrast) is then gone.

    Parameters
    ----------
    net : Network
    images : Tensor, shape (n, 3, y, x)
        Reference: their means and variances of every group are averaged, at `times` times along their own paths.
    times : int
        From 0 to T, denser at first, between which the statistics are interpolated; at least 2.

    Returns
    -------
    Network
        Its fields are evaluated in plain torch but for their filters, some two times slower.

    Raises
    ------
    SolverError
        If a block could not be solved for a reference.
    InputError
        If a reference has so little contrast in a layer that eps would be its norm, as a blank has, or is not finite;
        the values would then be of no use. If there is no image, or `times` is below 2.

    Notes
    -----
    It misleads for single images far from the reference: nothing keeps h at its usual speed any more.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(8,), norm_groups=8)
    >>> frozen = freeze_norms(net, torch.rand(4, 3, 32, 32))
    >>> tuple(frozen(torch.rand(2, 3, 32, 32)).shape)
    (2, 10)
    """
    count("times", times, 2)
    return noted(frozen_copy(net, images, times), f"norm={len(images)}")


def lend_norms(net: Network, parts: int) -> Network:
    """Give a copy for batches of several equal parts, whose norms use the statistics of the first for all.

    Image i of every part is normalised by the statistics that image i of the first has at the same solver time. The
    first part is then answered as by the network itself; the others tell what the filters make of them, without the
    norms' reaction to what they have beyond the first.

    Parameters
    ----------
    net : Network
    parts : int
        Of a batch, at least 2.

    Returns
    -------
    Network
        For "shared" stepping alone, which keeps the parts at one time.

    Raises
    ------
    InputError
        If there are too few parts; on a call, if the batch has no equal parts.

    Notes
    -----
    Unlike `freeze_norms`, it interpolates nothing: the parts are solved together. It misleads where the first has so
    little contrast that the others grow far beyond it, since nothing keeps them at its speed.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(8,), norm_groups=8, integration_time=0.1)
    >>> first, other = torch.rand(2, 3, 32, 32), torch.rand(2, 3, 32, 32)
    >>> logits = lend_norms(net, 2)(torch.cat([first, other]))
    >>> bool(torch.allclose(logits[:2], net(first), atol=1e-2)), bool(torch.allclose(logits[2:], net(other), atol=1e-2))
    (True, False)
    """
    if parts < 2:
        raise InputError(
            f"parts is {parts}; a batch has a first part, which lends its statistics, and 1 or more others."
        )
    return changed_norms(net, partial(LentNorm, parts=parts))


def frozen_copy(net: Network, images: Tensor, times: int) -> Network:
    """Freeze the norms of every block, and that which reads each of them."""
    check_network(net)
    images = net.checked(images)
    if not len(images):
        raise InputError("images (the reference) are none; give one image or more.")
    lost = (~torch.isfinite(images).flatten(1).all(1)).nonzero()[:, 0].tolist()
    if lost:
        raise InputError(f"image {lost[0]} of the reference has NaN or infinite values; leave such images out.")
    frozen = copy.deepcopy(net)
    h = net.stem(images)
    for number, block in enumerate(frozen.blocks, 1):
        path_times, path = states(net, number, h, times)
        if isinstance(block, ODEBlock):
            freeze_field(block, path_times, path)
        else:
            freeze_inside(block, lambda block=block, h=h: block(h), number)  # type: ignore[misc]
        reader = frozen.transitions[number - 1] if number <= len(frozen.transitions) else frozen.readout
        original = reader.norm
        if number <= len(frozen.transitions):
            h = reader(path[:, -1])
        if isinstance(original, nn.GroupNorm):  # one that is frozen already stays as it is
            moments = Moments()
            for i, time in enumerate(path_times):
                moments.add(time, *group_moments(original, path[:, i]))
            # h of a channel may begin at 0: what counts is what the next layer reads
            check_spread(original, moments, f"block {number}'s output", first=-1)
            reader.norm = FixedNorm(original, moments, Clock(path_times[-1]))
    return frozen


def states(net: Network, number: int, h: Tensor, times: int) -> tuple[list[float], Tensor]:
    """Give the reference images' path in a block, at times that are denser the earlier they are.

    h moves at a speed that the last norm fixes, so its statistics change fastest where h is smallest, at first: the
    times are T (i / n)^2.
    """
    if net.spec.depth != "ode":
        solution = net.block(number).run(h, net.solver, 2)
    else:
        end = float(net.block(number).integration_time)
        wanted = [end * (i / (times - 1)) ** 2 for i in range(times)] if end > 0 else [0.0]
        solution = net.block(number).run(h, net.solver, wanted)
    refuse_unsolved(solution, f"block {number}", h)
    return solution.times.tolist(), solution.path


def watched(module: nn.Module, run: Callable[[], Tensor], seen: dict[nn.Module, Moments], time: float) -> None:
    """Note the moments that every group norm inside a module meets."""

    def note(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if isinstance(norm, nn.GroupNorm):
            seen[norm].add(time, *group_moments(norm, inputs[0]))

    hooks = [norm.register_forward_pre_hook(note) for _, _, norm in group_norms(module)]
    run()
    for hook in hooks:
        hook.remove()


def freeze_field(block: ODEBlock, times: list[float], path: Tensor) -> None:
    """Fix the norms of a vector field along the reference's path."""
    seen: dict[nn.Module, Moments] = defaultdict(Moments)
    for i, time in enumerate(times):
        state, moment = path[:, i], torch.tensor(time, dtype=path.dtype, device=path.device)
        watched(block.field, lambda t=moment, h=state: block.field(t, h), seen, time)  # type: ignore[misc]
    clock = Clock()
    for owner, name, norm in list(group_norms(block.field)):
        check_spread(norm, seen[norm], f"norm {name!r}")
        setattr(owner, name, FixedNorm(norm, seen[norm], clock))
    block.field = ClockedField(with_separable_filters(block.field), clock)


def freeze_inside(block: nn.Module, run: Callable[[], Tensor], number: int) -> None:
    """Fix the norms of a residual block."""
    seen: dict[nn.Module, Moments] = defaultdict(Moments)
    watched(block, run, seen, 0.0)
    for owner, name, norm in list(group_norms(block)):
        check_spread(norm, seen[norm], f"norm {name!r} of block {number}")
        setattr(owner, name, FixedNorm(norm, seen[norm], Clock()))


def check_spread(norm: nn.GroupNorm, moments: Moments, name: str, first: int = 0) -> None:
    """Refuse a reference whose variance is that of eps."""
    least = min(float(variance.min()) for variance in moments.variance[first:])
    if norm.eps > 0 and least < LEAST_SPREAD**2 * norm.eps:
        raise InputError(
            f"images (the reference) have a standard deviation of {least**0.5:.2g} in {name}, where the norm's eps "
            f"is {norm.eps:g}: dividing by it would amplify noise, so take images with contrast, not a blank."
        )
