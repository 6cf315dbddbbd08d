"""What a network takes as images, and the plain words for what it does not take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.vector_field import ConvField

__all__ = ["check_images", "least_side", "refuse_transforms", "refuse_unseen_hooks"]

PRECISIONS = (torch.float32, torch.float64)
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def least_side(spec: NetworkSpec) -> int:
    """Give the fewest pixels a side that leave every block a map of one pixel.

    A stem of 3 x 3 pixels without padding takes two away, and each layer between blocks halves the map; padded layers
    of structured receptive fields halve it upwards.

    Examples
    --------
    >>> least_side(NetworkSpec(row="mine")), least_side(NetworkSpec(row="mine", outer_kernels="srf"))
    (6, 1)
    """
    blocks = len(spec.widths)
    return 1 if spec.outer_kernels == "srf" else int(2 + 2 ** (blocks - 1))


def check_images(images: Any, spec: NetworkSpec, weight: Tensor) -> Tensor:
    """Refuse what is no batch of images for a network with such weights, in words that name the fix.

    Parameters
    ----------
    images : Tensor, shape (n, 3, y, x)
    spec : NetworkSpec
    weight : Tensor
        One of the network's own, for its type and device.

    Returns
    -------
    Tensor
        The images.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_images(torch.zeros(3, 32, 32), NetworkSpec(row="mine"), torch.zeros(1))
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: images have shape (3, 32, 32) and type torch.float32; a network takes floating-point RGB \
images of shape (n, 3, 32, 32) in [0, 1], so divide bytes by 255 and put the channel first.
    """
    if not isinstance(images, Tensor):
        raise InputError(
            f"images are a {type(images).__name__}; a network takes a torch tensor, torch.as_tensor(data.image.values) "
            "for instance."
        )
    if images.ndim != 4 or images.shape[1] != 3 or not images.is_floating_point():
        raise InputError(
            f"images have shape {tuple(images.shape)} and type {images.dtype}; a network takes floating-point "
            "RGB images of shape (n, 3, 32, 32) in [0, 1], so divide bytes by 255 and put the channel first."
        )
    if images.dtype != weight.dtype or images.device != weight.device:
        raise InputError(
            f"images are {images.dtype} on {images.device} but the network is {weight.dtype} on {weight.device}; "
            "use images.to(weight) or net.to(images.dtype)."
        )
    if images.dtype not in PRECISIONS:
        raise InputError(
            f"images and network are {images.dtype}; the solver controls its error in float32 or float64, so use "
            "net.float() and images.float()."
        )
    if images.is_meta:
        raise InputError("images and network are on the meta device, which holds no values to solve with; use net.to.")
    if min(images.shape[2:]) < least_side(spec):
        raise InputError(
            f"images are {images.shape[2]} x {images.shape[3]} pixels; {spec.row} with {len(spec.widths)} blocks needs "
            f"at least {least_side(spec)} x {least_side(spec)}, or a map would have no pixel left."
        )
    return images


def refuse_transforms(tensors: Sequence[Tensor]) -> None:
    """Refuse to be traced or transformed: the solver's steps are chosen by the values that it meets.

    Parameters
    ----------
    tensors : sequence of Tensor
        Images and weights, of which each may be under a transform of ``torch.func``.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_transforms([torch.zeros(1)])
    """
    tracer = "torch.jit.trace" if torch.jit.is_tracing() else None  # type: ignore[attr-defined, no-untyped-call]
    tracer = "torch.export" if torch.compiler.is_exporting() else tracer
    if tracer is not None:
        raise InputError(
            f"{tracer} cannot follow a network whose solver chooses its steps by what it finds; save it with "
            "dcnbio.save, and load it with dcnbio.load where it is to run."
        )
    if any(torch._C._functorch.is_functorch_wrapped_tensor(tensor) for tensor in tensors):
        raise InputError(
            "images or weights are under a transform of torch.func (vmap, grad, vjp, jvp, ...), which the solver does "
            "not take; give all images as one batch, and take gradients with backward(), torch.autograd.grad or "
            "torch.autograd.functional."
        )


def unseen(block: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """List the parts of an ODE block that a solve reads the weights of and never calls."""
    yield name, block
    field = block.get_submodule("field")
    if isinstance(field, ConvField):
        yield from field.named_modules(prefix=f"{name}.field")


def refuse_unseen_hooks(block: nn.Module, name: str) -> None:
    """Refuse an ODE block with a hook on a part that is never called, which would be left out in silence.

    Parameters
    ----------
    block : nn.Module
        With a vector field ``field``.
    name : str
        Of the block in the network.

    Raises
    ------
    InputError
    """
    for path, module in unseen(block, name):
        if any(getattr(module, kind) for kind in HOOKS):
            raise InputError(
                f"{path} has a hook, which would never be called: a solve reads the weights of a block and steps in "
                "compiled code; take h(t) from dcnbio.features or dcnbio.probe, change it with dcnbio.Patch, and make "
                "pruning or weight norm permanent first."
            )
