"""Everything that decides what a training run computes, as plain values; the defaults are the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from dcnbio.errors import InputError
from dcnbio.training.network_settings import check_network_settings
from dcnbio.training.recipe_parts import Data, Guards, Optimisation, Phase
from dcnbio.training.setting_checks import check_choice, check_text, check_whole

__all__ = ["SECTIONS", "Recipe", "recipe_from_dict"]

TASKS = ("classification", "reconstruction")
INITIAL_SIGMAS = ("paper", "constant", "log2-uniform")


@dataclass(frozen=True)
class Recipe:
    """A training run: network, task, data, optimisation, solver, guards.

    The defaults are the paper's recipe for CIFAR-10: SGD with momentum 0.9, batches of 128, a learning rate of 0.1
    that falls tenfold at epochs 40 and 70 of 100, translations by 4 pixels, flips, cross-entropy, adjoint, dopri5 at
    1e-3; no held-out part, the last epoch counts, and the paper's "validation" set is CIFAR-10's test set.

    Attributes
    ----------
    name : str
    model : str
        One of `dcnbio.ROWS`.
    network : dict
        Settings of `NetworkSpec` in place of the row's.
    initial_sigma : str
        "paper": log2 sigma ~ N(0, 2/3). "constant": 1 pixel. "log2-uniform": log2 sigma uniform with the same spread.
    task : str
        "classification" or "reconstruction" (a decoder on a trained network that stays as it is).
    encoder : str
        The trained network's checkpoint.
    start : str
        A trained network to go on from, by its file or shipped name, in place of drawn values; classification alone.
    seed : int
        Of initial values, data order and augmentation.
    dtype : str
        "float32" or "float64".
    data, optimisation, guards
        See there.
    phases : tuple of Phase
        In order.

    Raises
    ------
    InputError
        If settings do not go with one another.

    Examples
    --------
    >>> Recipe().optimisation.milestones
    (40, 70)
    """

    name: str = "paper"
    model: str = "dcn-ode"
    network: dict[str, Any] = field(default_factory=dict)
    initial_sigma: str = "paper"
    task: str = "classification"
    encoder: str = ""
    start: str = ""
    seed: int = 0
    dtype: str = "float32"
    data: Data = field(default_factory=Data)
    optimisation: Optimisation = field(default_factory=Optimisation)
    guards: Guards = field(default_factory=Guards)
    phases: tuple[Phase, ...] = (Phase(),)

    def __post_init__(self) -> None:
        for name in ("name", "model", "encoder", "start"):
            check_text(name, getattr(self, name))
        check_network_settings(self.network)
        check_choice("initial_sigma", self.initial_sigma, INITIAL_SIGMAS)
        check_choice("task", self.task, TASKS)
        check_choice("dtype", self.dtype, ("float32", "float64"))
        check_whole("seed", self.seed, 0)
        object.__setattr__(self, "phases", tuple(self.phases))
        ends = [phase.until for phase in self.phases]
        if not ends or ends != sorted(ends) or ends[-1] != 1:
            raise InputError(f"phases end at {ends}; these shares of the run must rise, and the last must be 1.")
        if (self.task == "reconstruction") != bool(self.encoder):
            raise InputError(
                f"task is {self.task} and encoder is {self.encoder!r}; reconstruction needs a trained network "
                "(encoder), and classification has none."
            )
        if self.start and (self.encoder or self.initial_sigma != "paper"):
            what = f"encoder is {self.encoder!r}" if self.encoder else f"initial_sigma is {self.initial_sigma!r}"
            raise InputError(
                f"start is {self.start!r} and {what}; a network to go on from has its scales, and a decoder begins "
                "with drawn values, so give one of the two."
            )

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for a checkpoint's header."""
        plain: dict[str, Any] = asdict(self)
        plain["phases"] = [asdict(phase) for phase in self.phases]
        plain["optimisation"]["milestones"] = list(self.optimisation.milestones)
        return plain


SECTIONS: dict[str, type] = {"data": Data, "optimisation": Optimisation, "guards": Guards}


def made(kind: type, values: Mapping[str, Any], where: str) -> Any:
    """Make a dataclass of values, or say which setting does not exist."""
    known = {item.name for item in fields(kind)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"{where} has no setting {', '.join(unknown)}; known are {', '.join(sorted(known))}.")
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{where} holds a value of a wrong type ({error}).") from error


def recipe_from_dict(values: Mapping[str, Any]) -> Recipe:
    """Make a recipe of plain values; what is left out has the paper's value.

    Examples
    --------
    >>> recipe_from_dict(Recipe().to_dict()) == Recipe()
    True
    """
    parts = dict(values)
    for name, kind in SECTIONS.items():
        if name in parts:
            parts[name] = made(kind, parts[name], name)
    if "phases" in parts:
        parts["phases"] = tuple(made(Phase, phase, "phases") for phase in parts["phases"])
    recipe: Recipe = made(Recipe, parts, "the recipe")
    return recipe
