"""Mean and modulation of a response over the phase of a grating: F0, F1 and their ratio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["PhaseModulation", "phase_modulation"]


@dataclass(frozen=True)
class PhaseModulation:
    """Fourier components of a response over phase.

    Attributes
    ----------
    f0 : array [...]
        Mean over phases.
    f1 : array [...]
        Amplitude of the first harmonic.
    best_phase : array [...]
        Phase of the grating, in degrees, at which the first harmonic is largest.
    """

    f0: Floats
    f1: Floats
    best_phase: Floats

    @property
    def ratio(self) -> Floats:
        """F1 / F0, 0 where there is no response; pi / 2 for a half-rectified sinusoid, 0 for a complex cell."""
        return np.divide(self.f1, self.f0, out=np.zeros_like(self.f1), where=self.f0 > 0)

    @property
    def modulation(self) -> Floats:
        """The component that tuning is measured by: F1 of simple cells (F1 > F0), F0 of complex ones."""
        return np.maximum(self.f0, self.f1)


def phase_modulation(response: ArrayLike) -> PhaseModulation:
    """Take the zeroth and first harmonic over the last axis, equally spaced phases from 0 to 360 degrees.

    Parameters
    ----------
    response : array [..., phase]
        At least 4 phases, an even number: aliases of F1 are then harmonics that a rectified sinusoid does not have.

    Returns
    -------
    PhaseModulation

    Raises
    ------
    InputError
        If the number of phases is odd or under 4.

    Notes
    -----
    A DCN's stimuli stand still: this is a response to gratings of several phases, not to one that drifts.

    References
    ----------
    Skottun et al., Vision Research 1991, 31, 1078, doi:10.1016/0042-6989(91)90033-2.

    Examples
    --------
    >>> phase = np.arange(8) * np.pi / 4
    >>> simple = phase_modulation(np.maximum(0, np.cos(phase - 0.5)))
    >>> round(float(simple.f1), 6), round(float(simple.best_phase)), round(float(simple.ratio), 1)
    (0.5, 29, 1.5)
    """
    values = np.asarray(response, dtype=np.float64)
    n = values.shape[-1]
    if n < 4 or n % 2:
        raise InputError(f"response has {n} phases; give an even number, 4 or more, equally spaced over 360 degrees.")
    turn = np.exp(2j * np.pi * np.arange(n) / n)
    first = 2 * (values @ turn) / n
    return PhaseModulation(values.mean(-1), np.abs(first), np.degrees(np.angle(first)) % 360)
