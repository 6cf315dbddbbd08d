"""The parts of a recipe: images, optimisation, solver, guards; the defaults are the paper's."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dcnbio.errors import InputError
from dcnbio.model.fixed_steps import TABLEAUS
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.training.setting_checks import check_choice, check_flag, check_number, check_whole

__all__ = ["Data", "Guards", "Optimisation", "Phase"]

SCHEDULES = ("steps", "one-cycle")


@dataclass(frozen=True)
class Data:
    """Which images are trained on, and what is done to them.

    Attributes
    ----------
    per_class : int or None
        Images of each class, drawn without replacement; None: all.
    subset_seed : int or None
        Of that draw; None: the run's seed. Networks of all rows draw the same images from the same seed.
    held_out : int
        Images taken from the training set, in equal numbers from each class, that make every choice.
    held_out_seed : int
        Of that draw: the same images whatever the run's seed.
    look : int
        How many of them are looked at after each epoch; all are at the end.
    translate : int
        Largest random translation along each axis, pixels.
    border : str
        What comes in from outside: "black", as in the paper, or "mirror", the image reflected at its edge, which leaves
        no black border for a network to get used to.
    still : float
        The share of images, chosen at random at each step, that is not translated.
    flip : bool
        Whether half of the images are mirrored, at random.

    Raises
    ------
    InputError
        If a setting has a value that is not allowed.

    Examples
    --------
    >>> Data(per_class=52).held_out
    0
    """

    per_class: int | None = None
    subset_seed: int | None = None
    held_out: int = 0
    held_out_seed: int = 0
    look: int = 1000
    translate: int = 4
    border: str = "black"
    still: float = 0.0
    flip: bool = True

    def __post_init__(self) -> None:
        check_whole("per_class", self.per_class, 1, optional=True)
        check_whole("held_out", self.held_out, 0)
        check_whole("look", self.look, 0)
        check_whole("translate", self.translate, 0, 31)
        check_choice("border", self.border, ("black", "mirror"))
        check_number("still", self.still, 0, 1)
        check_whole("subset_seed", self.subset_seed, 0, optional=True)
        check_whole("held_out_seed", self.held_out_seed, 0)
        check_flag("flip", self.flip)


@dataclass(frozen=True)
class Optimisation:
    """Stochastic gradient descent and its schedule.

    Attributes
    ----------
    epochs : int
        Rounds through the training images; not used where `passes` is given.
    passes : int or None
        Images to pass through the network in all; minutes become passes once, before the run.
    small_data_factors : bool
        10, 5 and 2 times the epochs and learning-rate steps for 520, 1,030 and 5,120 images, as in the paper.
    batch_size : int
        Sets smaller than a batch are one batch.
    keep_partial_batch : bool
        Whether the images that are left over at the end of an epoch make a smaller batch, as in the public code; they
        are dropped otherwise, as the paper says. 160 images are two steps an epoch then, or one.
    learning_rate : float
        At the start ("steps") or at its highest ("one-cycle").
    schedule : str
        "steps": falls by `factor` at each of `milestones` (epochs). "one-cycle": rises from a tenth over the share
        `warm_up` of the run, then falls to zero along a cosine.
    milestones : tuple of int
    factor, warm_up, momentum, weight_decay, label_smoothing : float
        Weight decay spares norms, biases and scales.
    nesterov : bool

    Raises
    ------
    InputError
        If a setting has a value that is not allowed.

    Examples
    --------
    >>> Optimisation(epochs=10, milestones=[4, 7]).milestones
    (4, 7)
    """

    epochs: int = 100
    passes: int | None = None
    small_data_factors: bool = True
    batch_size: int = 128
    keep_partial_batch: bool = False
    learning_rate: float = 0.1
    schedule: str = "steps"
    milestones: tuple[int, ...] = (40, 70)
    factor: float = 0.1
    warm_up: float = 0.2
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 0.0
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "milestones", tuple(self.milestones))
        check_choice("schedule", self.schedule, SCHEDULES)
        check_whole("epochs", self.epochs, 1)
        check_whole("passes", self.passes, 1, optional=True)
        check_whole("batch_size", self.batch_size, 1)
        check_number("learning_rate", self.learning_rate, 0)
        for name in ("factor", "warm_up", "label_smoothing"):
            check_number(name, getattr(self, name), 0, 1)
        check_number("momentum", self.momentum, 0, 0.9999)
        check_number("weight_decay", self.weight_decay, 0)
        for milestone in self.milestones:
            check_whole("milestones", milestone, 1)
        for name in ("keep_partial_batch", "nesterov", "small_data_factors"):
            check_flag(name, getattr(self, name))
        if self.nesterov and not self.momentum:
            raise InputError("nesterov is true and momentum is 0; it needs a momentum, such as the paper's 0.9.")


@dataclass(frozen=True)
class Phase:
    """The solver of a part of the run.

    Attributes
    ----------
    until : float
        Where the phase ends, as a share of the run; the last one ends at 1.
    method : str
        "dopri5", or one of "euler", "midpoint", "rk4" with `steps`.
    steps : int or None
        Fixed steps in each block.
    jitter : float
        Under 1: each batch draws its step length so that the last step is cut by up to this share of it. The number
        of steps stays; the network cannot learn their places.
    rtol, atol : float
    gradient : str
        "exact" or "adjoint".
    convolutions : str
        "float32", or "bfloat16" with fixed steps: dense kernels are then convolved in that type while training, which
        is about half as long on processors that have it. Weights, norms and h stay as they are, and so does every
        measurement.

    Raises
    ------
    InputError
        If a setting has a value that is not allowed.

    Examples
    --------
    >>> Phase(method="midpoint", steps=2, gradient="exact").label
    'midpoint x 2 exact'
    """

    until: float = 1.0
    method: str = "dopri5"
    steps: int | None = None
    jitter: float = 0.0
    rtol: float = 1e-3
    atol: float = 1e-3
    gradient: str = "adjoint"
    convolutions: str = "float32"

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("dopri5", *TABLEAUS))
        check_choice("gradient", self.gradient, ("exact", "adjoint"))
        check_choice("convolutions", self.convolutions, ("float32", "bfloat16"))
        if self.method == "dopri5" and self.convolutions != "float32":
            raise InputError(
                f"convolutions is {self.convolutions!r} with dopri5, which would take its rounding for error of the "
                'steps; choose fixed steps (method="midpoint", steps=2), or leave convolutions at "float32".'
            )
        check_number("until", self.until, 0, 1)
        check_number("jitter", self.jitter, 0, 0.99)
        if (self.steps is None) != (self.method == "dopri5"):
            raise InputError(f"steps is {self.steps} with {self.method}; fixed-step methods need it, dopri5 has none.")
        check_whole("steps", self.steps, 1, optional=True)
        for name in ("rtol", "atol"):
            check_number(name, getattr(self, name), 0)
        SolverSettings(rtol=self.rtol, atol=self.atol)

    @property
    def label(self) -> str:
        """A short name for tables."""
        if self.steps is None:
            return f"dopri5 {self.rtol:g} {self.gradient}"
        jitter = f" jitter {self.jitter:g}" if self.jitter else ""
        precision = f" {self.convolutions}" if self.convolutions != "float32" else ""
        return f"{self.method} x {self.steps}{jitter} {self.gradient}{precision}"


@dataclass(frozen=True)
class Guards:
    """What is watched, and what is held back.

    Attributes
    ----------
    clip_norm : float or None
        Largest norm of the gradient.
    sigma_ceiling : float or None
        Scales are cut to this many pixels after each step.
    sigma_least, sigma_most : float or None
        A scale outside this range, in pixels, ends the run; None: that end is not watched.
    gap_limit : float or None
        When the held-out accuracy with a phase's own solver exceeds that with dopri5 at 1e-3 by more than this, the
        network is learning the solver, and the next phase begins at once.

    Raises
    ------
    InputError
        If a setting has a value that is not allowed.

    Examples
    --------
    >>> Guards(clip_norm=5.0).sigma_most
    32.0
    """

    clip_norm: float | None = None
    sigma_ceiling: float | None = None
    sigma_least: float | None = 0.01
    sigma_most: float | None = 32.0
    gap_limit: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            # log2 sigma is cut, and no scale is 0 pixels
            above = item.name == "sigma_ceiling"
            check_number(item.name, getattr(self, item.name), 0, optional=True, above=above)
