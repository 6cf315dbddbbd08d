"""The chapters of a report: what each asks of a network, how it is answered, and where the answer misleads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcnbio.commands.report_reconstructions import find_reconstructions
from dcnbio.commands.report_solver import find_solver
from dcnbio.commands.report_subject import MASK, Finding, Subject
from dcnbio.commands.report_trajectories import find_trajectories
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.model.network import Network

__all__ = ["CHAPTERS", "ChapterPlan", "control_seed", "with_control"]


@dataclass(frozen=True)
class ChapterPlan:
    """A chapter to be made.

    Attributes
    ----------
    key, title, question : str
    find : callable
        From the subject to the findings. Raises `DcnbioError` where this network has none.
    caveats : tuple of str
    """

    key: str
    title: str
    question: str
    find: Callable[[Subject], Sequence[Finding]]
    caveats: tuple[str, ...]


def find_scales(subject: Subject) -> Sequence[Finding]:
    """Analyse the scales of its filters."""
    from dcnbio.analysis.scales import analyze_scales
    from dcnbio.probe.filters import checkpoint_filters

    filters = checkpoint_filters(subject.path, subject.model)
    filters.attrs["name"] = subject.name
    found = analyze_scales({subject.name: filters}, seed=subject.seed, resamples=subject.resamples)
    claims = [claim.to_dict() for claim in found.claims]
    return [Finding("filters", filters), Finding("scales", found.to_tree(), claims, found.conclusion)]


def with_control(subject: Subject) -> dict[str, Network]:
    """Give the network and an untrained one of its kind."""
    from dcnbio.model.network import build

    name = subject.name
    control = "untrained" if name != "untrained" else "untrained control"
    return {name: subject.net, control: build(subject.net.spec, seed=control_seed(subject))}


def control_seed(subject: Subject) -> int:
    """Give the seed of the untrained control: the report's, unless that makes the very network the report is of."""
    from dcnbio.model.network import build
    from dcnbio.model.weights import weights_id

    twin = build(subject.net.spec, seed=subject.seed)
    same = weights_id(twin.state_dict()) == weights_id(subject.net.state_dict())
    return subject.seed + 1 if same else subject.seed


def find_completion(subject: Subject) -> Sequence[Finding]:
    """Analyse pattern completion, beside an untrained network of the same kind."""
    from dcnbio.analysis.completion import analyze_completion
    from dcnbio.commands.analyze_completion import Planned, run
    from dcnbio.probe.completion import CompletionSettings

    full = CompletionSettings((6, MASK, 22), MASK, times=9, mechanism=12, seed=subject.seed)
    least = CompletionSettings((MASK,), MASK, controls=False, times=9, mechanism=0, seed=subject.seed)
    trained, control = with_control(subject).items()
    experiments, mechanisms = run([Planned(*trained, full), Planned(*control, least)], subject.images)
    found = analyze_completion(experiments, mechanisms, seed=subject.seed, resamples=subject.resamples)
    claims = [claim.to_dict() for claim in found.claims]
    return [Finding("completion", found.to_tree(), claims, found.conclusion)]


def find_contrast(subject: Subject) -> Sequence[Finding]:
    """Analyse contrast, beside an untrained network of the same kind."""
    from dcnbio.analysis.contrast import analyze_contrast
    from dcnbio.commands.analyze_contrast import record_all
    from dcnbio.probe.contrast import ContrastSettings

    networks = [(name, net, "") for name, net in with_control(subject).items()]
    recorded = record_all(networks, subject.images, ContrastSettings(few=20, batch_size=20))
    found = analyze_contrast(recorded, seed=subject.seed, resamples=subject.resamples)
    claims = [claim.to_dict() for claim in found.claims]
    return [Finding("contrast", found.to_tree(), claims, found.conclusion)]


def find_responses(subject: Subject) -> Sequence[Finding]:
    """Measure units as neurons are measured, beside an untrained network, and compare them with macaque V1."""
    from dcnbio.analysis.primate import analyze_primate
    from dcnbio.analysis.responses.result import analyze_responses
    from dcnbio.commands.analyze_responses import HowMuch, measured

    if subject.net.spec.depth != "ode":
        raise InputError(
            f"{subject.net.spec.row} has residual blocks, in which units have no response in time to measure; give a "
            "network with ODE blocks, such as dcn-ode or ode-net."
        )
    found = analyze_responses(
        measured(str(subject.path), subject.model, HowMuch(seed=control_seed(subject))), subject.seed
    )
    claims = [claim.to_dict() for claim in found.claims]
    beside = analyze_primate(found.measures, found.untrained, seed=subject.seed)
    tree = beside.to_tree()
    return [
        Finding("responses", found.to_tree(), claims, found.conclusion),
        Finding("primate", tree, json.loads(tree.attrs["claims"]), beside.conclusion),
    ]


CHAPTERS = (
    ChapterPlan(
        "scales",
        "Receptive-field scales",
        "How large are the filters (sigma, pixels), does their size rise with depth, is it distributed log-normally, "
        "and what of this did training make?",
        find_scales,
        (
            "Before training log2 sigma is drawn from a normal distribution, which is log-normal already: only the "
            "change speaks of learning.",
            "sigma is free where a filter's weights are near zero; the measures weighted by energy allow for that.",
        ),
    ),
    ChapterPlan(
        "trajectories",
        "Trajectories h(t)",
        f"How do feature maps move in time, and what becomes of them when the central {MASK} x {MASK} pixels are "
        "hidden? Move the slider, choose block, channel and image, and click a map to follow one place.",
        find_trajectories,
        (
            "The last group norm in the vector field fixes how fast h moves, so it drifts and never settles, whatever "
            "the image; a growing |h| is no growing response.",
            "The stimulus is the initial state: a DCN has no drive after t = 0.",
            "The channels shown are the six whose maps vary most at the last time; they are not typical.",
        ),
    ),
    ChapterPlan(
        "completion",
        "Pattern completion",
        f"Do maps of images whose central {MASK} x {MASK} pixels are hidden come back to those of the intact images, "
        "by more than other changes of the same size fade?",
        find_completion,
        (
            "D(t) over the intact map's amplitude at t falls wherever |h| grows, also where nothing is completed; "
            "A(0)/A(t) beside it shows by how much.",
            "Places outside the mask move at once, through the norms' statistics of the whole map.",
            "A black square has a contrast of its own: what fades may be the square, not the gap.",
        ),
    ),
    ChapterPlan(
        "contrast",
        "Contrast and time",
        "What do accuracy and solver work do when contrast c falls, and what is left of it when block 1 is read at "
        "T-hat = cT?",
        find_contrast,
        (
            "In block 1 the vector field ignores the scale of each channel, so h at contrast c is h at contrast 1 read "
            "at t/c: the law holds for every network of this kind, trained or not.",
            "Function evaluations at a fixed tolerance fall with contrast because the tolerance is looser for smaller "
            "maps; the comparison at equal error tells this from a saving.",
        ),
    ),
    ChapterPlan(
        "responses",
        "Responses of units, beside macaque V1",
        "How do units answer to gratings, sizes and contrasts, as neurons in visual cortex are asked, and are they "
        "like those?",
        find_responses,
        (
            "Group norm is a surround and a gain control over the whole image; what remains with frozen statistics is "
            "the network's.",
            "One unit per channel: places share weights and are no further n, and the channels of one network are no "
            "sample of networks.",
            "There is no drive after t = 0, so no duration, onset or steady state.",
            "Verdicts on likeness are of this network's few units against bounds fixed from published differences; a "
            "verdict that is built in speaks of the norm or of the architecture, not of what was learned.",
        ),
    ),
    ChapterPlan(
        "reconstructions",
        "Reconstructions",
        "How much of an image can a decoder give back from the maps after the last block?",
        find_reconstructions,
        (
            "The decoder was trained too: what it gives back is in the maps, what it does not may be there all the "
            "same.",
            "Mean square error likes smooth pictures; it does not say whether the object can be recognised.",
        ),
    ),
    ChapterPlan(
        "solver",
        "The solver",
        "Do answers, h(T) and what a mask leaves of it move with the solver's tolerance and method?",
        find_solver,
        (
            "The reference is numerical too: that tighter solves approach it is what speaks for it.",
            "A few images: dcnbio check-solver compares more of them, and tighter tolerances.",
        ),
    ),
)
