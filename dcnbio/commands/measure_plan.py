"""How much is shown to a network whose units are measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcnbio.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HIGHEST", "SIZES", "MeasurePlan", "check_seed", "plan_of"]

HIGHEST = 0.96  # contrast of gratings; the rest lie half octaves below


@dataclass(frozen=True)
class MeasurePlan:
    """How much is shown to each network.

    Attributes
    ----------
    orientations, frequencies, phases : int
        Of the full-field gratings, crossed.
    times : int
        Solver times that timing is read from.
    diameters : tuple of float
        Of each unit's own grating, in pixels.
    contrasts : int
        From 0.96 downwards by half octaves; 7 end at 0.12, below which the norms' eps is no longer small against the
        variance of a grating's maps.
    noise : int
        Images of white noise, passed at the network's own tolerance, since what they leave to chance is far more than
        the solver does; 0 for no noise correlation.
    field_images : int
        Noise images over which gradients are averaged; 0 for no fields.
    reference : int
        Natural images whose statistics are used where the norms are frozen; 0 for no frozen statistics.
    blocks : tuple of int
        Each once and in rising order, whatever is given.
    mask_phases : int
        Of plaids and of surrounds across, an even number; 0 for neither.
    units : int or None
        At most so many units of each block, spread evenly over its channels; None: all.
    signal : str
        What is read of a unit: "z", as the next layer reads it, or "h_change", h(t) - h(0).
    tolerance : float or None
        Of the solver where units are recorded, see `UnitSettings`; None: the network's own.
    """

    orientations: int = 12
    frequencies: int = 12
    phases: int = 6
    times: int = 21
    diameters: tuple[float, ...] = (1.5, 3.0, 5.0, 8.0, 12.0, 17.0, 23.0, 30.0)
    contrasts: int = 7
    noise: int = 2000
    field_images: int = 1
    reference: int = 20
    blocks: tuple[int, ...] = field(default=(1,))
    mask_phases: int = 2
    units: int | None = None
    signal: str = "z"
    tolerance: float | None = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(sorted(set(self.blocks))))

    def channels(self, width: int) -> NDArray[np.int64]:
        """Choose channels of a block of some width.

        Examples
        --------
        >>> MeasurePlan(units=3).channels(32).tolist(), MeasurePlan().channels(2).tolist()
        ([0, 16, 31], [0, 1])
        """
        import numpy as np

        wanted = width if self.units is None else min(self.units, width)
        return np.unique(np.linspace(0, width - 1, wanted).round().astype(np.int64))

    @property
    def shown_contrasts(self) -> tuple[float, ...]:
        """Give the contrasts of gratings that fill the image, rising; a quarter of the highest is among 5 or more.

        Examples
        --------
        >>> [round(contrast, 2) for contrast in MeasurePlan(contrasts=5).shown_contrasts]
        [0.24, 0.34, 0.48, 0.68, 0.96]
        """
        return tuple(HIGHEST * 2.0 ** (-k / 2) for k in reversed(range(self.contrasts)))

    def shown_frequencies(self, highest: tuple[float, ...]) -> NDArray[np.float64]:
        """Give spatial frequencies, from 1/30 to 0.5 cycles/pixel.

        Of those that are evenly spaced in octaves, the nearest to the Nyquist frequency of a block's maps is put there,
        so that its units are shown all that they can tell.

        Parameters
        ----------
        highest : tuple of float
            Nyquist's frequency of the maps of each block recorded, in cycles/pixel.

        Examples
        --------
        >>> MeasurePlan(frequencies=8).shown_frequencies((0.25, 0.125)).round(3).tolist()
        [0.033, 0.049, 0.072, 0.125, 0.157, 0.25, 0.34, 0.5]
        """
        import numpy as np

        from dcnbio.images.frequencies import LOWEST_FREQUENCY, NYQUIST

        found = np.geomspace(LOWEST_FREQUENCY, NYQUIST, self.frequencies)
        for limit in highest:
            if LOWEST_FREQUENCY < limit < NYQUIST:
                found[np.abs(np.log(found / limit)).argmin()] = limit
        return found


SIZES = {
    "quick": MeasurePlan(8, 8, 4, 11, (2.0, 4.0, 8.0, 16.0, 30.0), 7, 0, 1, 0, mask_phases=0),
    "small": MeasurePlan(6, 8, 4, 11, (2.0, 4.0, 8.0, 16.0, 30.0), 7, 0, 1, 10, units=12),
    "default": MeasurePlan(),
    "full": MeasurePlan(12, 12, 8, noise=2000, field_images=4, reference=100, blocks=(1, 2, 3), mask_phases=4),
}


def plan_of(size: str | MeasurePlan) -> MeasurePlan:
    """Look a size up."""
    if isinstance(size, MeasurePlan):
        return size
    if size not in SIZES:
        raise InputError(f"size is {size!r}; sizes are {', '.join(SIZES)}.")
    return SIZES[size]


def check_seed(seed: int) -> None:
    """Refuse a seed that no generator takes, before anything is run.

    Examples
    --------
    >>> check_seed(-1)
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: --seed is -1; give a whole number of 0 or more.
    """
    if seed < 0:
        raise InputError(f"--seed is {seed}; give a whole number of 0 or more.")
