"""The report's chapter on the solver: whether what it shows moves with tolerance and method, on a few images."""

from __future__ import annotations

from collections.abc import Sequence

from dcnbio.commands.report_subject import MASK, Finding, Subject

__all__ = ["find_solver"]

IMAGES = 10
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def find_solver(subject: Subject) -> Sequence[Finding]:
    """Compare solvers.

    Raises
    ------
    InputError
        If the network has none.
    """
    from dcnbio.commands.check_solver import warnings_of
    from dcnbio.probe.solver_check import check_solver

    some = subject.images.isel(stimulus=slice(0, IMAGES))
    found = check_solver(subject.net, some, TOLERANCES, mask=MASK)
    warnings = warnings_of(found)
    n = found.attrs["n"]
    steady = f"no answer changes and D(T) stays within 5 % with any of {found.sizes['solver']} solvers (n = {n} images)"
    said = f"{'; '.join(warnings)} (n = {n} images)" if warnings else steady
    return [Finding("solver_check", found, conclusion=f"{subject.name}: {said}.")]
