"""Plans which figures are drawn of some results, each once, and under which names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcnbio.errors import InputError
from dcnbio.figures.architecture import spec_of
from dcnbio.figures.catalogue import checked_table, figure_kind, kinds_of
from dcnbio.figures.export.labels import distinct_labels
from dcnbio.figures.export.sources import Source
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.table import Table

__all__ = ["Planned", "plan_figures"]

NEEDED = {
    "recording": "a recording of dcnbio probe",
    "spec": "a checkpoint or a recording of one",
    "filters": "a checkpoint with filters that have a scale",
    "run": "a folder of dcnbio train, or its metrics.csv",
    "solver_check": "what dcnbio check-solver --json prints",
    "reconstructions": "a decoder of a network that ships",
}
"""What a figure is drawn of that no analysis writes, as files."""

Drawing = tuple[str, str]
"""The name of a figure's kind, and what tells this one of the kind from others."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A figure that will be drawn.

    Attributes
    ----------
    name : str
        Of its files.
    kind : FigureKind
    sources : tuple of Source
        What it shows; the first is drawn, and the others would give the same.
    table : Table
    """

    name: str
    kind: FigureKind
    sources: tuple[Source, ...]
    table: Table


def plan_figures(sources: Sequence[Source], only: Sequence[str] = ()) -> tuple[list[Planned], dict[str, InputError]]:
    """Choose the figures that results support, name them apart, and give why others are left out.

    Parameters
    ----------
    sources : sequence of Source
    only : sequence of str
        Names of figures; all by default.

    Raises
    ------
    InputError
        If a name is unknown, or there is nothing to draw.
    """
    wanted = dict.fromkeys(figure_kind(name).name for name in only)
    drawings = drawings_of(sources, wanted)
    names, found = drawing_names(drawings), []
    left_out: dict[str, InputError] = {}
    for drawing, own in drawings.items():
        kind = figure_kind(drawing[0])
        try:
            found.append(Planned(names[drawing], kind, tuple(own), checked_table(kind, own[0].result)))
        except InputError as error:
            left_out[names[drawing]] = error
    left_out |= {name: not_given(figure_kind(name)) for name in wanted if name not in {kind for kind, _ in drawings}}
    if not found:
        why = "; ".join(f"{name} is left out: {reason}" for name, reason in left_out.items())
        raise InputError(
            f"there is nothing to draw of {', '.join(dict.fromkeys(source.name for source in sources))}: "
            f"{why or 'no figure is made of it.'}"
        )
    return beside_each_other(found), left_out


def beside_each_other(plans: list[Planned]) -> list[Planned]:
    """Let drawings of one kind share what they have in common, such as a scale of colours."""
    tables: dict[str, Table] = {}
    for kind in {plan.kind.name: plan.kind for plan in plans}.values():
        if kind.together is not None:
            own = [plan for plan in plans if plan.kind.name == kind.name]
            shared = kind.together([(plan.sources[0].result, plan.table) for plan in own])
            tables |= {plan.name: table for plan, table in zip(own, shared, strict=True)}
    return [replace(plan, table=tables.get(plan.name, plan.table)) for plan in plans]


def drawings_of(sources: Sequence[Source], wanted: dict[str, None]) -> dict[Drawing, list[Source]]:
    """Gather the results that each drawing shows: the same result given twice makes no second one."""
    found: dict[Drawing, list[Source]] = {}
    for source in sources:
        for kind in kinds_of(source.kind):
            if not wanted or kind.name in wanted:
                found.setdefault((kind.name, what_it_shows(kind, source)), []).append(source)
    return found


def what_it_shows(kind: FigureKind, source: Source) -> str:
    """Tell drawings of a kind apart: of a spec, by its settings, which a recording and its checkpoint share."""
    if kind.takes != "spec":
        return source.sha256
    try:
        return json.dumps(spec_of(source.result), sort_keys=True)
    except InputError:  # said when its table is made
        return source.sha256


def drawing_names(drawings: dict[Drawing, list[Source]]) -> dict[Drawing, str]:
    """Name drawings by their kind, and by their results where there are several of a kind."""
    names: dict[Drawing, str] = {}
    for kind in dict.fromkeys(name for name, _ in drawings):
        own = [drawing for drawing in drawings if drawing[0] == kind]
        labels = distinct_labels([drawings[drawing][0] for drawing in own])
        names |= {drawing: f"{kind}-{label}" for drawing, label in zip(own, labels, strict=True)}
        if len(own) == 1:
            names[own[0]] = kind
    return names


def not_given(kind: FigureKind) -> InputError:
    """Say what a figure would be drawn of."""
    needed = NEEDED.get(kind.takes, f"a result of dcnbio analyze {kind.takes} --out")
    return InputError(f"it is drawn of {needed}, and none is given.")
