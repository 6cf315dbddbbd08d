"""Lets torch.compile leave alone what it cannot follow: a solver that chooses its steps by what it finds."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

__all__ = ["uncompiled"]

P = ParamSpec("P")
R = TypeVar("R")


def uncompiled(call: Callable[P, R]) -> Callable[P, R]:
    """Run a function as it is inside a module that is compiled; the rest of the module is compiled around it.

    The steps of a block are compiled code already.

    Examples
    --------
    >>> uncompiled(abs)(-1)
    1
    """
    as_it_is: list[Callable[P, R]] = []

    @functools.wraps(call)
    def outside(*args: P.args, **kwargs: P.kwargs) -> R:
        # without its compiler, whose import takes seconds, torch compiles nothing
        if "torch._dynamo" not in sys.modules:
            return call(*args, **kwargs)
        if not as_it_is:
            as_it_is.append(torch.compiler.disable(call))  # type: ignore[no-untyped-call]
        return as_it_is[0](*args, **kwargs)

    return outside
