"""Finds what goes wrong in people's own vector fields, before a solver makes it hard to see."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dcnbio.errors import InputError

__all__ = ["FieldReport", "check_vector_field"]

# shares of the largest slope under which two differ by rounding alone: a norm multiplies it where the maps are small
ROUNDING = {torch.float64: 1e-6, torch.float32: 1e-2}

Check = Callable[[nn.Module, Tensor, Tensor], list[str]]


@dataclass(frozen=True)
class FieldReport:
    """What was found wrong with a vector field.

    Attributes
    ----------
    problems : tuple of str
        One sentence each: what is wrong and the usual fix. Empty if nothing was found.
    """

    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.problems

    def __str__(self) -> str:
        """Show one problem a line."""
        return "nothing wrong was found" if self.ok else "\n".join(f"- {problem}" for problem in self.problems)

    def raise_if_any(self) -> None:
        """Raise an InputError that names every problem."""
        if not self.ok:
            raise InputError(f"the vector field cannot be solved as it is:\n{self}")


def kind(h: Tensor) -> str:
    """Describe a tensor in few words."""
    return f"{h.dtype} of shape {tuple(h.shape)}".replace("torch.", "")


def check_form(f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look at shape, type, device, finiteness and whether h was edited in place."""
    before = h.clone()
    try:
        with torch.no_grad():
            slope = f(t, h)
    except Exception as error:  # whatever a person's module raises is the finding
        return [f"f(t, h) raises {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"]
    problems = []
    if not torch.equal(h, before):
        problems.append("h was changed in place: use activations without inplace=True and no `h += ...`")
    if not isinstance(slope, Tensor):
        return [*problems, f"f(t, h) gives a {type(slope).__name__}; it must give a tensor dh/dt"]
    if slope.shape != h.shape or slope.dtype != h.dtype or slope.device != h.device:
        problems.append(f"f(t, h) gives {kind(slope)} for h of {kind(h)}; dh/dt has the shape and type of h")
    elif not torch.isfinite(slope).all():
        problems.append("dh/dt is not finite for a finite h: look for divisions, logarithms and square roots")
    elif slope.untyped_storage().data_ptr() == h.untyped_storage().data_ptr():
        problems.append("dh/dt shares memory with h: return a new tensor, for instance h.clone()")
    return problems


def distance(found: Tensor, wanted: Tensor) -> float:
    """Give the largest difference as a share of the largest value; infinite where one is no number."""
    share = float((found - wanted).abs().max() / wanted.abs().max().clamp(min=1e-30))
    return math.inf if math.isnan(share) else share


@torch.no_grad()
def check_repeats(f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look whether the same h gives the same dh/dt."""
    if distance(f(t, h), f(t, h)) > 1e-3 * ROUNDING[h.dtype]:
        return ["dh/dt differs between two calls: take out dropout, noise and state that is kept between calls"]
    return []


@torch.no_grad()
def check_batch(f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look whether an image's dh/dt depends on its batch mates."""
    together = f(t, h)
    alone = torch.cat([f(t, h[i : i + 1]) for i in range(len(h))])
    others = f(t, torch.cat([h[:1], 3 * h[1:] + 1]))[:1]
    apart = max(distance(alone, together), distance(others, together[:1]))
    if apart > ROUNDING[h.dtype]:
        return [
            f"images are coupled (dh/dt of one moves by {apart:.1e} with the others): use group norm, not batch norm"
        ]
    return []


def check_gradient(f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look whether gradients reach h and every parameter, and are right."""
    start = h.clone().requires_grad_()
    with torch.enable_grad():
        slope = f(t, start)
    if not slope.requires_grad:
        return ["no gradient flows from dh/dt: take out no_grad, detach and conversions to NumPy"]
    named = [(name, p) for name, p in f.named_parameters() if p.requires_grad]
    sources = [start, *(p for _, p in named)]
    found: tuple[Tensor | None, ...] = torch.autograd.grad(slope.square().sum(), sources, allow_unused=True)
    problems = []
    if found[0] is None:
        problems.append("no gradient flows from dh/dt to h: take out detach")
    unused = [name for (name, _), gradient in zip(named, found[1:], strict=True) if gradient is None]
    if unused:
        problems.append(f"no gradient reaches {', '.join(unused[:3])}: unused parameters cannot be trained")
    if any(g is not None and not torch.isfinite(g).all() for g in found):
        problems.append("a gradient is not finite for a finite h: look for square roots and norms at zero")
    return problems


def check_mode(f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look whether a call in training mode changes what the field will compute."""
    state = {name: value.clone() for name, value in f.state_dict().items()}
    with torch.no_grad():
        first, second = f.train()(t, h), f.eval()(t, h)
    moved = [name for name, value in f.state_dict().items() if not torch.equal(value, state[name])]
    problems = []
    if moved:
        problems.append(f"a call changes {moved[0]}: running statistics couple images over time, so use group norm")
    if distance(first, second) > ROUNDING[h.dtype]:
        problems.append("dh/dt differs between training and evaluation mode: take out dropout and batch norm")
    return problems


def in_double(f: nn.Module, t: Tensor, h: Tensor) -> tuple[nn.Module, Tensor, Tensor]:
    """Give a copy in float64, where rounding is not taken for a difference; in float32 if it is one of that alone."""
    try:
        wide, time, state = copy.deepcopy(f).double(), t.double(), h.double()
        with torch.no_grad():
            if wide(time, state.clone()).dtype == torch.float64:
                return wide, time, state
    except Exception:  # a constant of another type, or a device without float64
        pass
    return copy.deepcopy(f).float(), t.float(), h.float()


def checked(check: Check, f: nn.Module, t: Tensor, h: Tensor) -> list[str]:
    """Look at a copy of its own, so that no call of the field is seen by another check or stays behind."""
    try:
        return check(copy.deepcopy(f), t, h.clone())
    except Exception as error:  # a field that fails on one image, or in one mode, is a finding too
        said = str(error).splitlines()[0] if str(error) else ""
        return [f"{check.__name__.removeprefix('check_')}: f(t, h) raises {type(error).__name__}: {said}"]


def check_vector_field(
    f: nn.Module, shape: tuple[int, int, int] = (32, 30, 30), *, t: float = 0.5, seed: int = 0
) -> FieldReport:
    """Say what is wrong with a vector field f(t, h) of one's own.

    Shape or type changed, h edited in place, images coupled, random output, modes that differ, no gradient. What is
    compared is compared in float64, where the field can be called in it. `f` itself is not called: copies are.

    Parameters
    ----------
    f : nn.Module
        Called with a scalar tensor t and h of shape (n, c, y, x).
    shape : tuple of int
        (c, y, x) of a block: (32, 30, 30), (64, 15, 15) and (128, 7, 7) in a network of standard widths.
    t : float
        Solver time of the calls.
    seed : int
        Of the h that it is tried on.

    Returns
    -------
    FieldReport
        ``report.ok``, ``report.problems``; printing it shows one problem a line.

    Raises
    ------
    InputError
        If `f` is no nn.Module. What is wrong with a module is reported, not raised.

    Examples
    --------
    >>> class Coupled(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.norm = nn.BatchNorm2d(32)
    ...     def forward(self, t, h):
    ...         return self.norm(h)
    >>> check_vector_field(Coupled()).problems[0].startswith("images are coupled")
    True
    """
    if not isinstance(f, nn.Module):
        raise InputError(f"f is a {type(f).__name__}; a vector field is an nn.Module with forward(t, h).")
    weight = next((p for p in f.parameters() if p.is_floating_point()), torch.zeros(()))
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(4, *shape, generator=generator).to(weight)
    time = torch.tensor(t).to(weight)
    try:
        copy.deepcopy(f)
    except Exception as error:  # a network is copied too, for another type and for interventions
        return FieldReport((f"f cannot be copied, as copy.deepcopy says: {error}",))
    problems = checked(check_form, f, time, h)
    if problems:
        return FieldReport(tuple(problems))
    wide = in_double(f, time, h)
    for check in (check_repeats, check_batch, check_mode):
        problems += checked(check, *wide)
    return FieldReport((*problems, *checked(check_gradient, f, time, h)))
