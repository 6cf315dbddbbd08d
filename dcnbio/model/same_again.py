"""Whether a file of a spec and weights gives a module back as it is: what was changed beside them would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError

__all__ = ["in_one_float", "plain_tensors", "refuse_unlike"]

# set anew on each use of a network, and kept by no file
ASIDE = ("solver", "source", "spec", "training")
INTERVENTIONS = "dcnbio.model.interventions."


def kind(module: nn.Module) -> str:
    """Name a module's type."""
    return type(module).__qualname__


def same(one: Any, other: Any) -> bool:
    """Compare two settings; those that do not compare to true or false differ."""
    try:
        return one is other or bool(one == other)
    except (RuntimeError, TypeError, ValueError):
        return False


def settings(module: nn.Module) -> dict[str, Any]:
    """List what a module was made with, and what of its class a value of its own stands before."""
    return {name: value for name, value in vars(module).items() if name[0] != "_" and name not in ASIDE}


def differences(module: nn.Module, skeleton: nn.Module, own: str | None) -> Iterator[str]:
    """Say what is not as in the skeleton, part by part; inside modules named `own` the code is a person's."""
    parts, expected = (
        {name: part for name, part in named(whole) if own is None or not inside(name, own)}
        for whole in (module, skeleton)
    )
    for name in [*expected, *(name for name in parts if name not in expected)]:
        if name not in parts or name not in expected:
            yield f"{name} is {f'a {kind(parts[name])}, where it has nothing' if name in parts else 'not there'}"
        elif type(parts[name]) is not type(expected[name]):
            yield f"{name} is a {kind(parts[name])}, not a {kind(expected[name])}"
        else:
            yield from (f"{name}.{what}".lstrip(".") for what in unlike(parts[name], expected[name]))


def named(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """List the modules by all names that they have."""
    yield from module.named_modules(remove_duplicate=False)


def inside(name: str, own: str) -> bool:
    """Whether a module is a person's own field of a block, or a part of one.

    Examples
    --------
    >>> inside("blocks.0.field.conv", "blocks.*.field"), inside("blocks.0", "blocks.*.field")
    (True, False)
    """
    steps, wanted = name.split("."), own.split(".")
    return len(steps) >= len(wanted) and all(a in ("*", b) for a, b in zip(wanted, steps, strict=False))


def unlike(part: nn.Module, expected: nn.Module) -> Iterator[str]:
    """Say which settings and tensors of one module are others."""
    made, wanted = settings(part), settings(expected)
    for name, value in wanted.items():
        if name not in made or not same(made[name], value):
            yield f"{name} is {made.get(name)!r}, not {value!r}"
    for name in made:
        if name not in wanted and hasattr(type(part), name):
            yield f"{name} is {made[name]!r}, in the place of the class's own"
    tensors, others = (
        dict([*one.named_parameters(recurse=False), *one.named_buffers(recurse=False)]) for one in (part, expected)
    )
    for name in [*others, *(name for name in tensors if name not in others)]:
        if name not in tensors or name not in others:
            yield f"{name} is {'a tensor more' if name in tensors else 'not there'}"
        elif tensors[name].shape != others[name].shape:
            yield f"{name} has shape {tuple(tensors[name].shape)}, not {tuple(others[name].shape)}"


def refuse_unlike(module: nn.Module, skeleton: nn.Module, what: str, own: str | None = None) -> None:
    """Refuse a module that its spec and its weights would not give back.

    Parameters
    ----------
    module : nn.Module
    skeleton : nn.Module
        Made from the spec that a file would hold.
    what : str
        What the message calls the module.
    own : str, optional
        Modules whose code is a person's own, given again when the file is loaded: "blocks.*.field".

    Raises
    ------
    InputError
        With the first part whose type, settings or shapes differ, and where floating-point types are mixed.

    Examples
    --------
    >>> refuse_unlike(nn.GroupNorm(2, 4), nn.GroupNorm(2, 4), "net")
    >>> refuse_unlike(nn.GroupNorm(2, 4, eps=0.1), nn.GroupNorm(2, 4), "net")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: net cannot be saved: eps is 0.1, not 1e-05. A file holds spec and weights alone, from \
which another network would be made; save the network as it was before, and change it again once it is loaded.
    """
    interfered = (
        f"{name} is a {kind(part)}, which an intervention has put there"
        for name, part in module.named_modules()
        if type(part).__module__.startswith(INTERVENTIONS)
    )
    found = next(interfered, None) or next(differences(module, skeleton, own), None)
    if found is not None:
        raise InputError(
            f"{what} cannot be saved: {found}. A file holds spec and weights alone, from which another network would "
            "be made; save the network as it was before, and change it again once it is loaded."
        )
    floats = (value.dtype for value in module.state_dict().values() if value.is_floating_point())
    types = {str(dtype).removeprefix("torch.") for dtype in floats}
    if len(types) > 1:
        raise InputError(
            f"{what} cannot be saved: its weights are of {' and '.join(sorted(types))}, of which loading would make "
            "one type; use its float() or double() first."
        )


def plain_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Give a module's state as tensors on the CPU that share no memory, which a file cannot hold.

    Examples
    --------
    >>> tied = nn.ModuleList([nn.Linear(2, 2)] * 2)
    >>> state = plain_tensors(tied)
    >>> state["0.weight"].data_ptr() == state["1.weight"].data_ptr()
    False
    """
    return {
        name: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, value in module.state_dict().items()
    }


def in_one_float(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Put a module's floating-point numbers into the type of a state: float64 where all of it is, else float32.

    Whole numbers stay as they are.

    Examples
    --------
    >>> layer = nn.Linear(2, 2)
    >>> in_one_float(layer, {"weight": torch.zeros(2, 2).double(), "count": torch.tensor(3)})
    >>> layer.weight.dtype
    torch.float64
    """
    floats = [value.dtype for value in state.values() if value.is_floating_point()]
    module.double() if floats and set(floats) == {torch.float64} else module.float()
