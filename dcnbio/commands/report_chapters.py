"""The chapters of a report: what each asks of a network, how it is answered, and where the answer misleads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network

__all__ = ["CHAPTERS", "ChapterPlan", "Finding", "Subject"]

MASK = 14  # pixels, as in the paper's script
SHOWN_IMAGES, SHOWN_TIMES = 3, 11


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Attributes
    ----------
    checkpoint : str
        As it was named.
    path : Path
    net : Network
    images : xarray.Dataset
    model : str or None
        The row of a public .pth.
    seed : int
        Of all resampling.
    resamples : int
    """

    checkpoint: str
    path: Path
    net: Network
    images: xr.Dataset
    model: str | None
    seed: int
    resamples: int


@dataclass(frozen=True, eq=False)
class Finding:
    """What a chapter found.

    Attributes
    ----------
    kind : str
        Of the result, by which figures know it.
    result : object
        What figures take.
    claims : sequence of dict
        Plain values.
    conclusion : str
    body : str
        HTML of its own.
    """

    kind: str
    result: Any
    claims: Sequence[dict[str, Any]] = ()
    conclusion: str = ""
    body: str = ""


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
    filters.attrs["name"] = subject.path.stem
    found = analyze_scales({subject.path.stem: filters}, seed=subject.seed, resamples=subject.resamples)
    claims = [claim.to_dict() for claim in found.claims]
    return [Finding("filters", filters), Finding("scales", found.to_tree(), claims, found.conclusion)]


def find_trajectories(subject: Subject) -> Sequence[Finding]:
    """Record h(t) of a few images, intact and under a mask."""
    from dcnbio.probe import ProbeSettings, probe
    from dcnbio.probe.stimuli import as_stimuli, prepared_images
    from dcnbio.report import map_viewer

    some = subject.images.isel(stimulus=slice(0, SHOWN_IMAGES))
    settings: dict[str, Any] = {"times": SHOWN_TIMES, "batch_size": SHOWN_IMAGES}
    intact, masked = probe(subject.net, some, **settings), probe(subject.net, some, mask=MASK, **settings)
    stimuli = as_stimuli(some)
    pixels = {
        name: prepared_images(stimuli, ProbeSettings(mask=mask)) for name, mask in (("intact", None), ("masked", MASK))
    }
    return [Finding("recording", intact, body=map_viewer(intact, masked, pixels))]


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
)
