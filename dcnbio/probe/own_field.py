"""Names what a person's own vector field computes, of which the weights tell a part alone."""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from dcnbio.errors import InputError
from dcnbio.model.network import Network

__all__ = ["own_field", "refuse_unread"]

PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, enum.Enum, torch.dtype, torch.device)
INTERNAL = frozenset(vars(nn.Module()))
LONGEST = 40  # characters of a value that is told as it is


class UnreadError(Exception):
    """A part of a field whose code or value cannot be told."""


def own_field(net: Network) -> dict[str, Any]:
    """Tell code, attributes and buffers that are not saved of a network's own vector fields, in plain values.

    Parameters
    ----------
    net : Network
        With ``spec.vector_field``. Its parameters and saved buffers are in `weights_id`.

    Returns
    -------
    dict
        ``source``, the SHA-256 of the code of the fields' classes with the functions and constants that it names;
        ``attributes``, by block and name. Or ``unread``, why the field cannot be told from another. Packages that are
        installed are told by their names.
    """
    seen: dict[int, Any] = {}
    code: dict[str, None] = {}  # in order, and every class once
    attributes: dict[str, str] = {}
    try:
        for number, block in enumerate(net.blocks, 1):
            for path, module in block.get_submodule("field").named_modules(prefix=f"block{number}"):
                code |= dict.fromkeys(of_class(type(module), seen))
                attributes |= {f"{path}.{name}": short(value) for name, value in of_module(module)}
    except UnreadError as error:
        return {"unread": str(error)}
    return {"source": hashlib.sha256("\n".join(code).encode()).hexdigest(), "attributes": attributes}


def short(text: str) -> str:
    """Give a text, or its SHA-256 where it is long."""
    return text if len(text) <= LONGEST else hashlib.sha256(text.encode()).hexdigest()


def installed(name: str) -> bool:
    """Whether a module is of Python or of a package, which is told by its name and version."""
    root = name.partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root in sys.stdlib_module_names - {"__main__"} or root == "dcnbio" or "-packages" in file


def of_module(module: nn.Module) -> Iterator[tuple[str, str]]:
    """Tell the values of one module that are not among its weights, by name."""
    foreign = installed(type(module).__module__)
    if foreign and type(module).__module__.startswith(("torch.jit", "torch.fx")):
        raise UnreadError(f"{type(module).__name__} holds code that was made from other code")
    for name, value in vars(module).items():
        # what a package keeps for itself, such as kernels that it has made already, is no setting
        if name not in INTERNAL and not (foreign and name.startswith("_")):
            yield name, "\n".join(of_value(value, {}))
    for name in sorted(module._non_persistent_buffers_set):
        yield name, "\n".join(of_value(module._buffers[name], {}))


def of_value(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Tell a value that code names or a module keeps."""
    if isinstance(value, PLAIN):
        yield repr(value)
    elif isinstance(value, torch.Tensor | np.ndarray):
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        yield f"{array.dtype.str} {array.shape} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from (*of_value(key, seen), *of_value(one, seen))
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__} of {len(value)}"
        for one in value:
            yield from of_value(one, seen)
    elif isinstance(value, set | frozenset):
        yield from sorted(text for one in value for text in of_value(one, seen))
    elif isinstance(value, types.ModuleType):
        yield from of_file(value)
    elif isinstance(value, type):
        yield from of_class(value, seen)
    elif callable(value) and not isinstance(value, nn.Module):
        yield from of_callable(value, seen)
    else:
        yield from of_object(value, seen)


def of_file(module: types.ModuleType) -> Iterator[str]:
    """Tell a module that code names: one of a person's own by all that is in it."""
    yield module.__name__ if installed(module.__name__) else source(module, module.__name__)


def of_class(kind: type, seen: dict[int, Any]) -> Iterator[str]:
    """Tell a class by the code and the constants of its own and of the classes that it is derived from."""
    if id(kind) in seen:
        return
    seen[id(kind)] = kind
    yield f"{kind.__module__}.{kind.__qualname__}"
    for one in kind.__mro__:
        if not installed(one.__module__):
            for name, value in vars(one).items():
                if inspect.isfunction(getattr(value, "__func__", value)) or not name.startswith("__"):
                    yield name
                    yield from of_value(value, seen)


def of_callable(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Tell a function by its source, and by the values of the names in it that are not its own."""
    if isinstance(value, functools.partial):
        for part in (value.func, value.args, value.keywords):
            yield from of_value(part, seen)
        return
    function = inspect.unwrap(getattr(value, "__func__", value))
    if not inspect.isfunction(function) or installed(function.__module__):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if name is None:
            yield from of_object(value, seen)
        else:
            yield f"{getattr(value, '__module__', '')}.{name}"
        return
    if id(function) in seen:
        return
    seen[id(function)] = function
    yield source(function, function.__qualname__)
    named = {**from_around(function), "defaults": function.__defaults__, "more": function.__kwdefaults__}
    for name in sorted(named):
        yield name
        yield from of_value(named[name], seen)


def from_around(function: types.FunctionType) -> dict[str, Any]:
    """Give what a function, and the functions within it, take from the file and the function around them."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        # __class__ is how super() finds the class that is being told; a cell may have no value yet
        if name != "__class__":
            with contextlib.suppress(ValueError):
                found[name] = cell.cell_contents
    return found


def of_object(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Tell an object by its class and what it keeps."""
    if isinstance(value, property | classmethod | staticmethod | functools.cached_property):
        inner = getattr(value, "fget", None) or getattr(value, "func", None) or value.__func__  # type: ignore[union-attr]
        yield from of_value(inner, seen)
        return
    if id(value) in seen:
        return
    seen[id(value)] = value
    if not hasattr(value, "__dict__"):
        raise UnreadError(f"it uses an object of type {type(value).__module__}.{type(value).__qualname__}")
    yield from of_class(type(value), seen)
    if isinstance(value, nn.Module):
        for name, text in of_module(value):
            yield from (name, text)
        yield from of_value(dict(value.state_dict()), seen)
        return
    yield from of_value(vars(value), seen)


def source(thing: Any, name: str) -> str:
    """Read the source of a function or a file."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError) as error:
        raise UnreadError(f"the source of {name} cannot be read ({error})") from error


def refuse_unread(told: Mapping[str, Any], joins: bool) -> None:
    """Refuse to go on with a recording whose vector field cannot be told from this one.

    Parameters
    ----------
    told : mapping
        From `own_field`; empty without an own field.
    joins : bool
        Whether what is there is gone on with.

    Raises
    ------
    InputError
        With the reason.

    Examples
    --------
    >>> refuse_unread({"unread": "the source of F.forward cannot be read"}, joins=False)
    """
    if joins and "unread" in told:
        raise InputError(
            "the recording cannot be resumed (resume, shard), since its vector field cannot be told from another: "
            f"{told['unread']}; define the field in a file, or record anew with overwrite=True."
        )
