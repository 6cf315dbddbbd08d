"""``dcnbio report``: everything there is to say about one network, as one HTML file with its figures beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dcnbio.commands.images import ImageOptions, open_images
from dcnbio.commands.options import Checkpoint, Json, Model, flag, name_list
from dcnbio.commands.output import Speaker, command_text, tell
from dcnbio.commands.report_chapters import CHAPTERS, ChapterPlan, control_seed
from dcnbio.commands.report_figures import Drawn, earlier_figures, possible_files
from dcnbio.commands.report_headlines import headlines
from dcnbio.commands.report_subject import Finding, Subject
from dcnbio.commands.resampling_option import Resampling
from dcnbio.errors import DcnbioError, InputError
from dcnbio.probe.class_labels import with_labels_if_any

if TYPE_CHECKING:
    from dcnbio.model.spec import NetworkSpec
    from dcnbio.report import Chapter, Picture, Report

__all__ = ["report"]

PAGE, FIGURES = "report.html", "figures"


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    resamples: Annotated[int, Parameter(help="Of each bootstrap; 9999 for print.")] = 1999
    seed: Annotated[int, Parameter(help="Of all resampling and stimuli.")] = 0
    only: Annotated[str | None, Parameter(help="Chapters, between commas; all if left out.")] = None


SHIPPED_IMAGES, ALL = ImageOptions(), Sizes()


def report(
    *,
    checkpoint: Checkpoint = "dcn-ode",
    out: Annotated[Path, Parameter(help="A folder, made where it is not there.")] = Path("report"),
    model: Model = None,
    image_options: ImageOptions = SHIPPED_IMAGES,
    sizes: Annotated[Sizes, Parameter(name="*")] = ALL,
    overwrite: Annotated[bool, flag("Replace files that are there.")] = False,
    json_: Json = False,
) -> int:
    """Report on one network: an HTML file that needs no network, and its figures as PDF beside it."""
    from dcnbio.figures.export.folder import check_folder, write_files
    from dcnbio.report import report_html

    chosen = chosen_chapters(sizes.only)
    Resampling(sizes.resamples, sizes.seed).check()
    folder = check_folder(out, [PAGE], overwrite=overwrite)
    check_folder(folder / FIGURES, possible_files(), overwrite=overwrite)
    subject = open_subject(checkpoint, model, image_options, sizes)
    faults: list[Exception] = []
    chapters, drawn = [], Drawn(faults)
    card = [picture for finding in card_findings(subject) for picture in drawn.pictures(finding)]
    for plan, findings, missing in found_chapters(chosen, subject, faults):
        chapters.append(written_chapter(plan, findings, missing, drawn))
    page = report_html(whole_report(subject, chapters, card))
    written = drawn.write(folder / FIGURES, subject.path, overwrite=overwrite)
    write_files(folder, {PAGE: page.encode()})
    left_out = {chapter.key: chapter.missing for chapter in chapters if chapter.missing}
    summary = {
        "report": str(folder / PAGE),
        "figures": written,
        "chapters": {chapter.key: chapter.conclusion for chapter in chapters},
        "left_out": left_out,
    }
    lines = [f"{chapter.title}: {chapter.conclusion}" for chapter in chapters if chapter.conclusion]
    lines += [f"{key} is left out: {why}" for key, why in left_out.items()]
    speaker, earlier = Speaker(json_), earlier_figures(folder / FIGURES, written)
    if earlier:
        speaker.note(f"{folder / FIGURES} also holds {', '.join(earlier)}, which this report did not draw")
    speaker.give(summary, "\n".join([*lines, f"written to {folder / PAGE}, {len(written)} figures beside it"]))
    if faults:  # told as any other, once what could be made is written
        raise faults[0]
    return 0


def chosen_chapters(only: str | None) -> Sequence[ChapterPlan]:
    """Give the chapters that are wanted."""
    if only is None:
        return CHAPTERS
    wanted, known = name_list(only), [plan.key for plan in CHAPTERS]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(f"only (--only) names {', '.join(map(repr, unknown))}; the chapters are {', '.join(known)}.")
    return [plan for plan in CHAPTERS if plan.key in wanted]


def open_subject(checkpoint: str, model: str | None, options: ImageOptions, sizes: Sizes) -> Subject:
    """Open the network and the images."""
    from dcnbio.model.loading import find_checkpoint, load

    path = find_checkpoint(checkpoint)
    net = load(path, model)
    images = with_labels_if_any(net, open_images(options))
    return Subject(checkpoint, path, net, images, model, seed=sizes.seed, resamples=sizes.resamples)


def found_chapters(
    plans: Sequence[ChapterPlan], subject: Subject, faults: list[Exception]
) -> Iterator[tuple[ChapterPlan, Sequence[Finding], str]]:
    """Compute the chapters one after the other, and say which one is being computed; a fault costs one chapter."""
    for number, plan in enumerate(plans, 1):
        tell(f"{number} of {len(plans)}: {plan.title}")
        try:
            yield plan, plan.find(subject), ""
        except DcnbioError as error:  # a network of another kind has no such chapter
            yield plan, (), str(error)
        except Exception as error:
            faults.append(error)
            yield plan, (), f"it failed: {type(error).__name__}: {error}"


def written_chapter(plan: ChapterPlan, findings: Sequence[Finding], missing: str, drawn: Drawn) -> Chapter:
    """Draw a chapter's figures and gather what it says."""
    from dcnbio.report import Chapter

    return Chapter(
        plan.key,
        plan.title,
        plan.question,
        " ".join(finding.conclusion for finding in findings if finding.conclusion),
        [claim for finding in findings for claim in finding.claims],
        [picture for finding in findings for picture in drawn.pictures(finding)],
        plan.caveats,
        "\n".join(finding.body for finding in findings),
        missing,
        [claim for finding in findings for claim in headlines(finding.kind, finding.claims)],
    )


def card_findings(subject: Subject) -> list[Finding]:
    """Give what figures of the network itself are drawn of: its spec, and its training where that is known."""
    from dcnbio.commands.figures_sources import training_beside

    training = [Finding("run", found.result, sha256=found.sha256) for found in training_beside(subject.path)]
    return [Finding("spec", subject.net.spec), *training]


def kind_of(spec: NetworkSpec) -> str:
    """Say what a network is.

    Examples
    --------
    >>> from dcnbio.model.rows import row_spec
    >>> kind_of(row_spec("dcn-ode")), kind_of(row_spec("resnet-blocks"))
    ('a Deep Continuous Network', 'a residual network')
    """
    if spec.depth != "ode":
        return "a residual network" + (" with structured receptive fields" if spec.kernels != "pixel" else "")
    return "a Deep Continuous Network" if spec.kernels != "pixel" else "a network of ODE blocks with free weights"


def whole_report(subject: Subject, chapters: Sequence[Chapter], card: Sequence[Picture]) -> Report:
    """Put card, chapters and provenance together."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.weights import weights_id
    from dcnbio.recording.provenance import gather_provenance
    from dcnbio.report import Report
    from dcnbio.training.model_card import card_lines, not_good_for

    header = read_header(subject.path) if subject.path.suffix == ".safetensors" else None
    about = [("file", subject.path.name), ("row", subject.net.spec.row)]
    about += card_lines(header, subject.net) if header else [("card", "none: a .pth does not say how it was made")]
    versions = ", ".join(f"{name} {version}" for name, version in gather_provenance({})["versions"].items())
    made = [
        ("command", command_text(sys.argv[1:])),
        ("weights", weights_id(subject.net.state_dict())),
        ("images", str(subject.images.attrs["source"])),
        ("seed", f"{subject.seed}; of the untrained control {control_seed(subject)}"),
        ("versions", versions),
    ]
    title = f"{subject.name}: {kind_of(subject.net.spec)}, measured"
    return Report(title, about, not_good_for(header) if header else [], chapters, made, card)
