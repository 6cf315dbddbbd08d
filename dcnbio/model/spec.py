"""What a network is made of: everything that is needed to build it again, and nothing that is trained."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.srf_rule import ScaleRule

__all__ = ["NetworkSpec"]

CHOICES = {
    "depth": ("ode", "residual"),
    "kernels": ("pixel", "srf", "srf-pair"),
    "outer_kernels": ("pixel", "srf"),
    "activation": ("celu", "relu"),
}


@dataclass(frozen=True)
class NetworkSpec:
    """A Deep Continuous Network or one of its baselines.

    Attributes
    ----------
    row : str
        Name of the paper's row, or of a user's own network.
    depth : str
        "ode": blocks are differential equations; "residual": one residual block of two convolutions each.
    kernels : str
        In the blocks: "pixel" (3 x 3), "srf" (one sigma per layer) or "srf-pair" (one per channel pair, fixed window).
    outer_kernels : str
        Between the blocks: "pixel" (3 x 3 stem without padding, 4 x 4 with stride 2) or "srf" (padded).
    activation : str
        "celu" or "relu".
    integration_time : tuple of float
        T of each block, in solver time.
    widths : tuple of int
        Channels of each block; as many blocks as widths.
    kernel_order : int
        N of the N-jet.
    sigma_degree, alpha_degree : int
        Degree in time of log2 sigma (0, 1, 2) and of alpha (0, 1).
    window : float
        Shared-sigma kernels are 2 ceil(window sigma + 0.5) + 1 pixels wide.
    pair_size : int
        Width in pixels of the fixed window of per-pair kernels.
    norm_groups : int
        Groups of each group norm, or as many as channels if fewer; 0: as many as channels.
    classes : int
        Outputs.
    vector_field : str
        Empty, or the name of a user's own vector field that takes the place of the paper's.

    Raises
    ------
    InputError
        If a setting has a value that is not allowed, or one that does not go with another.

    Examples
    --------
    >>> NetworkSpec(row="mine", widths=(8, 16), integration_time=1.0).integration_time
    (1.0, 1.0)
    """

    row: str
    depth: str = "ode"
    kernels: str = "srf"
    outer_kernels: str = "pixel"
    activation: str = "celu"
    integration_time: tuple[float, ...] = (2.0,)
    widths: tuple[int, ...] = (32, 64, 128)
    kernel_order: int = 2
    sigma_degree: int = 0
    alpha_degree: int = 0
    window: float = 2.0
    pair_size: int = 7
    norm_groups: int = 32
    classes: int = 10
    vector_field: str = ""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "widths", tuple(operator.index(width) for width in self.widths))
            object.__setattr__(self, "integration_time", self._times(self.integration_time))
            self._check_choices()
            self._check_numbers()
            self._plain()
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a setting of the network has a value of a wrong type ({error}); widths are whole numbers in a list, "
                "integration_time is a number or a list of them."
            ) from error

    def _times(self, value: float | Sequence[float] | Mapping[Any, float]) -> tuple[float, ...]:
        blocks = len(self.widths)
        if isinstance(value, Mapping):
            raise InputError("integration_time by block needs a network to start from; use with_overrides.")
        times = tuple(float(t) for t in value) if isinstance(value, Sequence) else (float(value),)
        times = times * blocks if len(times) == 1 else times
        if len(times) != blocks or not all(math.isfinite(t) and t >= 0 for t in times):
            raise InputError(
                f"integration_time is {value}; give one finite number of 0 or more, or one for each of the "
                f"{blocks} blocks (the paper uses 2 for DCNs and 1 for ODE-Net)."
            )
        return times

    def _check_choices(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is {getattr(self, name)!r}; allowed are {', '.join(allowed)}.")
        if (self.sigma_degree or self.alpha_degree) and (self.kernels != "srf" or self.depth != "ode"):
            raise InputError("sigma_degree and alpha_degree need kernels='srf' and depth='ode'; leave them at 0.")

    def _check_numbers(self) -> None:
        ranges: dict[str, tuple[Any, int, int]] = {
            "kernel_order": (self.kernel_order, 0, 20),
            "sigma_degree": (self.sigma_degree, 0, 2),
            "alpha_degree": (self.alpha_degree, 0, 1),
            "norm_groups": (self.norm_groups, 0, 4096),
            "classes": (self.classes, 1, 1_000_000),
            "pair_size": (self.pair_size, 1, 63),
            "the number of widths": (len(self.widths), 1, 5),
        }
        for name, (value, least, most) in ranges.items():
            if not (isinstance(value, Integral) and least <= int(value) <= most):
                raise InputError(f"{name} is {value}; allowed are whole numbers from {least} to {most}.")
        if self.pair_size % 2 == 0:
            raise InputError(f"pair_size is {self.pair_size}; a kernel needs an odd width (the paper uses 7).")
        if not 0.5 <= self.window <= 16:
            raise InputError(f"window is {self.window}; allowed are 0.5 to 16 sigma (the paper uses 2).")
        for width in self.widths:
            if width < 1 or width % self.groups(width):
                raise InputError(
                    f"widths are {self.widths}; each must be positive and a multiple of the number of norm groups "
                    f"({self.groups(width)} at {width} channels), so change widths or norm_groups."
                )

    def _plain(self) -> None:
        """Make Python's own numbers of NumPy's, as a checkpoint's header holds them."""
        for f in fields(self):
            if f.type in ("int", "float"):
                plain = operator.index if f.type == "int" else float
                object.__setattr__(self, f.name, plain(getattr(self, f.name)))

    def groups(self, channels: int) -> int:
        """Give the number of groups of a norm over that many channels."""
        return min(self.norm_groups, channels) if self.norm_groups else channels

    @property
    def scale_rule(self) -> ScaleRule:
        """How the scales of the blocks' kernels are shared, change in time and are windowed."""
        return ScaleRule(
            order=self.kernel_order,
            per_pair=self.kernels == "srf-pair",
            sigma_degree=self.sigma_degree,
            alpha_degree=self.alpha_degree,
            extent=self.window,
            pair_size=self.pair_size,
        )

    @property
    def outer_scale_rule(self) -> ScaleRule:
        """The same for the layers between the blocks, which know no time and share one sigma."""
        return ScaleRule(order=self.kernel_order, extent=self.window)

    def with_overrides(self, **overrides: Any) -> NetworkSpec:
        """Give the same network with other settings; `integration_time` may name blocks, {1: 0.12}.

        Examples
        --------
        >>> NetworkSpec(row="mine").with_overrides(integration_time={1: 0.12}).integration_time
        (0.12, 2.0, 2.0)
        """
        known = {f.name for f in fields(self)} - {"vector_field"}
        unknown = sorted(set(overrides) - known)
        if unknown:
            raise InputError(f"{', '.join(unknown)} is no setting of a network; known are {', '.join(sorted(known))}.")
        if "widths" in overrides and "integration_time" not in overrides:
            overrides["integration_time"] = self.integration_time[0]
        time = overrides.get("integration_time")
        if isinstance(time, Mapping):
            overrides["integration_time"] = self._times_by_block(time)
        return replace(self, **overrides)

    def _times_by_block(self, changes: Mapping[Any, float]) -> tuple[float, ...]:
        times = list(self.integration_time)
        for block, time in changes.items():
            if not 1 <= int(block) <= len(times):
                raise InputError(f"integration_time names block {block}; the blocks are 1 to {len(times)}.")
            times[int(block) - 1] = float(time)
        return tuple(times)

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values, for a checkpoint's header."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkSpec:
        """Read the settings back; unknown ones are refused, since they would change the network.

        Examples
        --------
        >>> spec = NetworkSpec(row="mine")
        >>> NetworkSpec.from_dict(spec.to_dict()) == spec
        True
        """
        kinds = {f.name: str(f.type) for f in fields(cls)}
        unknown = sorted(set(values) - set(kinds))
        if unknown or "row" not in values:
            what = f"unknown settings {', '.join(unknown)}" if unknown else "no row"
            raise InputError(f"the network's spec has {what}; it may come from a newer dcnbio, so update.")
        for name, value in values.items():
            if not of_kind(kinds[name], value):
                raise InputError(f"the network's spec has {name} = {value!r}; it must be {kinds[name]}.")
        settings: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**settings)


def of_kind(kind: str, value: Any) -> bool:
    """Whether a value that was read from a file has the type a setting is declared with."""
    if kind.startswith("tuple"):
        inner = kind.removeprefix("tuple[").removesuffix(", ...]")
        return isinstance(value, list | tuple) and all(of_kind(inner, part) for part in value)
    allowed = {"str": str, "int": int, "float": int | float}[kind]
    return isinstance(value, allowed) and not isinstance(value, bool)
