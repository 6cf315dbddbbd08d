"""All kinds of figures by name."""

from __future__ import annotations

from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.analysis.result_file import MARK
from dcnbio.errors import InputError
from dcnbio.figures.architecture import ARCHITECTURE
from dcnbio.figures.contrast_response import CONTRAST_RESPONSE
from dcnbio.figures.contrast_surface import CONTRAST_SURFACE
from dcnbio.figures.difference_course import DIFFERENCE_COURSE
from dcnbio.figures.early_readout import EARLY_READOUT
from dcnbio.figures.feature_maps import FEATURE_MAPS
from dcnbio.figures.field_growth import FIELD_GROWTH
from dcnbio.figures.filters import FILTERS
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.mask_accuracy import MASK_ACCURACY
from dcnbio.figures.primate_comparison import PRIMATE_COMPARISON
from dcnbio.figures.primate_forest import PRIMATE_FOREST
from dcnbio.figures.receptive_fields import RECEPTIVE_FIELDS
from dcnbio.figures.reconstructions import RECONSTRUCTIONS
from dcnbio.figures.relative_distance import RELATIVE_DISTANCE
from dcnbio.figures.sigma_depth import SIGMA_DEPTH
from dcnbio.figures.sigma_distributions import SIGMA_DISTRIBUTIONS
from dcnbio.figures.solver_check import SOLVER_CHECK
from dcnbio.figures.solver_work import SOLVER_WORK
from dcnbio.figures.table import Table
from dcnbio.figures.training_curves import TRAINING_CURVES
from dcnbio.figures.trajectories import TRAJECTORIES
from dcnbio.figures.tuning_curves import TUNING_CURVES
from dcnbio.figures.unit_measures import UNIT_MEASURES

__all__ = ["figure_kind", "figure_kinds", "kinds_of", "plot"]

KINDS = {
    kind.name: kind
    for kind in (
        ARCHITECTURE,
        FILTERS,
        SIGMA_DEPTH,
        SIGMA_DISTRIBUTIONS,
        FEATURE_MAPS,
        TRAJECTORIES,
        SOLVER_WORK,
        SOLVER_CHECK,
        TRAINING_CURVES,
        RECONSTRUCTIONS,
        MASK_ACCURACY,
        DIFFERENCE_COURSE,
        RELATIVE_DISTANCE,
        EARLY_READOUT,
        CONTRAST_RESPONSE,
        CONTRAST_SURFACE,
        UNIT_MEASURES,
        FIELD_GROWTH,
        TUNING_CURVES,
        RECEPTIVE_FIELDS,
        PRIMATE_FOREST,
        PRIMATE_COMPARISON,
    )
}

OPEN_RESULT = "dcnbio.analysis.result_file.open_result"
GIVEN = {
    "recording": "a recording, from dcnbio.probe or dcnbio.open",
    "spec": "the spec of a network, net.spec",
    "filters": "the filters of a network, from dcnbio.probe.filters.checkpoint_filters",
    "run": "a training run, from dcnbio.figures.training_run.read_run",
    "solver_check": "what dcnbio check-solver --json printed, as a dictionary",
    "reconstructions": "the result of dcnbio.probe.reconstructed_images.reconstruct",
}
"""What a figure takes that no analysis writes, in words."""

ALSO = {"filters": ("spec",), "recording": ("spec",)}
"""What else a result holds than its own: the spec of the network it is of."""


def figure_kinds() -> list[str]:
    """List the names of all figures.

    Returns
    -------
    list of str

    Examples
    --------
    >>> figure_kinds()[:2]
    ['architecture', 'filters']
    """
    return list(KINDS)


def figure_kind(name: str) -> FigureKind:
    """Give a kind of figure by its name.

    Parameters
    ----------
    name : str
        One of `figure_kinds`.

    Returns
    -------
    FigureKind

    Raises
    ------
    InputError
        If there is no such figure; the message lists those there are.

    Examples
    --------
    >>> figure_kind("sigma_depth").takes
    'scales'
    >>> figure_kind("figure_1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: figure is 'figure_1'; known are architecture, ...
    """
    if name not in KINDS:
        raise InputError(f"figure is {name!r}; known are {', '.join(KINDS)}.")
    return KINDS[name]


def kinds_of(takes: str) -> list[FigureKind]:
    """List the figures that can be made of a kind of result.

    Examples
    --------
    >>> [kind.name for kind in kinds_of("filters")]
    ['architecture', 'filters']
    """
    return [kind for kind in KINDS.values() if kind.takes in (takes, *ALSO.get(takes, ()))]


def plot(name: str, result: Any, axes: Axes | None = None) -> Figure:
    """Draw a result.

    Parameters
    ----------
    name : str
        One of `figure_kinds`.
    result : xarray.DataTree or other
        What this kind of figure takes.
    axes : matplotlib.axes.Axes, optional
        To draw into, where one panel suits.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no such figure, or the result does not hold what it shows.

    Examples
    --------
    >>> from dcnbio.figures import on_page
    >>> spec = {"widths": [8], "outer_kernels": "pixel", "depth": "ode", "kernels": "pixel", "classes": 10}
    >>> with on_page("icml"):
    ...     figure = plot("architecture", {**spec, "integration_time": [2.0], "activation": "celu", "norm_groups": 4})
    >>> float(figure.get_size_inches()[0])
    6.75
    """
    kind = figure_kind(name)
    table = checked_table(kind, result)
    if axes is None:
        return kind.draw(table)
    try:
        return kind.draw(table, axes=axes)
    except TypeError as error:
        if "axes" in str(error) and "unexpected keyword" in str(error):
            raise InputError(f"axes is given, but {name} has several panels; leave it out.") from error
        raise


def kind_of(result: Any) -> str | None:
    """Give the kind of result that this says it is; None where it does not say."""
    mark = getattr(result, "attrs", {}).get(MARK)
    if mark is not None:
        return str(mark)
    blocks = [name for name in getattr(result, "children", ()) if str(name).startswith("block")]
    return "recording" if blocks and "provenance" in result.attrs else None


def checked_table(kind: FigureKind, result: Any) -> Table:
    """Make the table of a figure; what is of another kind than the figure takes is refused in words."""
    takes = GIVEN.get(kind.takes, f"what dcnbio analyze {kind.takes} --out wrote, opened with {OPEN_RESULT}")
    if isinstance(result, str | PathLike):
        raise InputError(f"result is {str(result)!r}, a name; {kind.name} takes {takes}.")
    found = kind_of(result)
    if found is not None and kind not in kinds_of(found):
        what = "a recording" if found == "recording" else f"one of dcnbio analyze {found}"
        raise InputError(f"result is {what}, and {kind.name} takes {takes}.")
    try:
        table = kind.table(result)
    except InputError:
        raise
    except (KeyError, AttributeError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"result is a {type(result).__name__} that does not hold what {kind.name} shows ({type(error).__name__}: "
            f"{error}); {kind.name} takes {takes}."
        ) from error
    if table.empty:
        raise InputError(f"result holds nothing that {kind.name} shows; {kind.name} takes {takes}.")
    return table
