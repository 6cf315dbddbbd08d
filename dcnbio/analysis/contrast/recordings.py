"""Accuracy against contrast from stored recordings: the cheap way to 10,000 images, where no map is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.answers import Answers, answers_of, check_alike, check_images
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.response_claims import difference_claim
from dcnbio.analysis.contrast.saving import whether_saved
from dcnbio.analysis.contrast.solved import left_out
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import PairedDifference, paired_difference
from dcnbio.errors import InputError

__all__ = ["RecordedContrast", "contrast_of_recordings"]

FIXED, SCALED = "T fixed", "T-hat"


@dataclass(frozen=True, eq=False)
class RecordedContrast:
    """What recordings at several contrasts say.

    Attributes
    ----------
    table : list of dict
        One line per recording: network, contrast, protocol, n, accuracy, mean evaluations of block 1 and of how many
        images: those solved at contrast 1 and in every recording at this one.
    claims : tuple of Claim
    conclusion : str
        One sentence.
    """

    table: list[dict[str, Any]]
    claims: tuple[Claim, ...]
    conclusion: str


def contrast_of_recordings(recordings: Sequence[xr.DataTree]) -> RecordedContrast:
    """Compare the answers of networks at other contrasts with those at contrast 1, image by image.

    Parameters
    ----------
    recordings : sequence of xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`, with labels, of the same images: of each network one at contrast 1, and
        at others with block 1's T as it is (T fixed) or times the contrast (T-hat). Maps are not needed.

    Returns
    -------
    RecordedContrast

    Raises
    ------
    InputError
        If a network has no recording at contrast 1 or several, two are alike, images have no labels or labels of
        classes that are not the network's, recordings are of other images, or those of one network differ in more than
        contrast and block 1's T.

    Notes
    -----
    Under half a point either way can be told from about 10,000 images on. It is said of each network alone.

    Examples
    --------
    >>> import dcnbio
    >>> data = dcnbio.load_images(limit=4)
    >>> nets = [dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=t) for t in (0.5, 0.5, 0.25)]
    >>> pairs = zip(nets, (1.0, 0.5, 0.5), strict=True)
    >>> found = contrast_of_recordings([dcnbio.probe(n, data, times=2, maps=False, contrast=c) for n, c in pairs])
    >>> [(line["contrast"], line["protocol"]) for line in found.table]
    [(1.0, 'reference'), (0.5, 'T fixed'), (0.5, 'T-hat')]
    """
    every = [answers_of(tree) for tree in recordings]
    if not every:
        raise InputError("recordings names none; give at least two, one of them at contrast 1.")
    for one in every[1:]:
        check_images(every[0], one)
    table: list[dict[str, Any]] = []
    claims, headline = list[Claim](), list[Claim]()
    for weights in dict.fromkeys(one.about["weights"] for one in every):
        own = [one for one in every if one.about["weights"] == weights]
        reference, others = sorted_out(own)
        table.append(line(reference, "reference", reference.solved))
        table += [line(one, key[1], solved_with(reference, others, key[0])) for key, one in others.items()]
        found = accuracy_claims(reference, others)
        claims += [*found, *evaluations_claims(reference, others)]
        headline += found
    return RecordedContrast(table, tuple(claims), " ".join(claim.conclusion for claim in headline))


def sorted_out(own: Sequence[Answers]) -> tuple[Answers, dict[tuple[float, str], Answers]]:
    """Find a network's recording at contrast 1, and what the others are beside it."""
    ones = [one for one in own if one.contrast == 1]
    if len(ones) != 1 or len(own) < 2:
        raise InputError(
            f"of {own[0].name} there are {len(ones)} recordings at contrast 1 and {len(own) - len(ones)} at others; "
            "give one at contrast 1, with the T that is its own, and one or more at others."
        )
    reference, found = ones[0], dict[tuple[float, str], Answers]()
    for one in sorted((one for one in own if one is not reference), key=lambda one: one.contrast):
        check_alike(reference, one)
        key = one.contrast, protocol_of(reference, one)
        if key in found:
            raise InputError(
                f"two recordings of {one.name} are at contrast {key[0]:g} with {key[1]}; give one of them."
            )
        found[key] = one
    return reference, dict(sorted(found.items(), key=lambda item: (item[0][0], item[0][1] != FIXED)))


def protocol_of(reference: Answers, one: Answers) -> str:
    """Say whether block 1 was integrated to T or to T-hat = c T."""
    ratio = one.times[0] / reference.times[0] if reference.times[0] else math.nan
    if one.times[1:] == reference.times[1:]:
        if math.isclose(ratio, 1):
            return FIXED
        if math.isclose(ratio, one.contrast, rel_tol=1e-6):
            return SCALED
    raise InputError(
        f"a recording of {one.name} at contrast {one.contrast:g} has the integration times {list(one.times)}, and at "
        f"contrast 1 they are {list(reference.times)}; block 1's is the same (T fixed) or times the contrast (T-hat: "
        f"--integration-time 1:{one.contrast * reference.times[0]:g}), and the others stay."
    )


Others = dict[tuple[float, str], Answers]


def solved_with(reference: Answers, others: Others, c: float) -> NDArray[np.bool_]:
    """Say which images were solved at contrast 1 and in every recording at contrast c."""
    every = [reference.solved, *(one.solved for key, one in others.items() if key[0] == c)]
    found: NDArray[np.bool_] = np.logical_and.reduce(every)
    return found


def line(one: Answers, protocol: str, solved: NDArray[np.bool_]) -> dict[str, Any]:
    """Sum one recording up; evaluations are those of images that were solved, None where none was."""
    about = {"network": one.name, "contrast": one.contrast, "protocol": protocol, "n": int(one.right.size)}
    nfe = float(one.evaluations[solved].mean()) if solved.any() else None
    return {**about, "accuracy": float(one.right.mean()), "nfe_block_1": nfe, "nfe_images": int(solved.sum())}


def accuracy_claims(reference: Answers, others: Others) -> list[Claim]:
    """Say what contrast does to one network's accuracy, each protocol as the other's control."""
    claims = []
    changes = {key: paired_difference(one.right, reference.right) for key, one in others.items()}
    for (c, protocol), change in changes.items():
        other = SCALED if protocol == FIXED else FIXED
        beside = control_of(other, changes.get((c, other)))
        claims.append(difference_claim(reference.name, (c, protocol), change, beside))
    return claims


def evaluations_claims(reference: Answers, others: Others) -> list[Claim]:
    """Say what contrast does to evaluations, where every image has steps of its own."""
    if reference.about["solver"]["stepping"] != "per-image":
        return []
    return [evaluations_claim(reference, key, others) for key in others]


def control_of(protocol: str, found: PairedDifference | None) -> Control:
    """Give what the other protocol does, or say that it was not recorded."""
    if found is None:
        return Control(f"with {protocol}: not recorded")
    return Control(f"with {protocol}", found.value, found.interval)


def evaluations_claim(reference: Answers, key: tuple[float, str], others: Others) -> Claim:
    """Say what contrast does to the evaluations of block 1, over the images that were solved in every recording."""
    c, protocol = key
    solved = solved_with(reference, others, c)
    title = f"{reference.name}: evaluations of block 1 at contrast {c:g} minus 1, {protocol}"
    control = evaluations_control(reference, (c, SCALED if protocol == FIXED else FIXED), others)
    if not solved.any():
        why = "no image was solved in every recording"
        text = f"What block 1 takes at contrast {c:g} with {protocol} is not known: {why}."
        return Claim(title, solved.size, "images", math.nan, Interval.none(why), control, text)
    change = more_evaluations(reference, others[key], solved)
    mean, interval = float(change.mean()), interval_of(change)
    meaning = whether_saved(mean, interval, change.size) or "a looser tolerance may save as many"
    text = (
        f"At contrast {c:g} with {protocol} block 1 takes {mean:+.1f} evaluations beside "
        f"{reference.evaluations[solved].mean():.1f} at contrast 1; {meaning}{left_out(int((~solved).sum()))}."
    )
    return Claim(title, change.size, "images", mean, interval, control, text)


def more_evaluations(reference: Answers, one: Answers, solved: NDArray[np.bool_]) -> Floats:
    """Give by how many evaluations each image that was solved takes more than at contrast 1."""
    found: Floats = (one.evaluations - reference.evaluations)[solved].astype(np.float64)
    return found


def evaluations_control(reference: Answers, key: tuple[float, str], others: Others) -> Control:
    """Give what the other protocol does to evaluations, or say that it was not recorded or not solved."""
    c, protocol = key
    if key not in others:
        return Control(f"with {protocol}: not recorded")
    solved = solved_with(reference, others, c)
    if not solved.any():
        return Control(f"with {protocol}: not solved")
    beside = more_evaluations(reference, others[key], solved)
    return Control(f"with {protocol}", float(beside.mean()), interval_of(beside))
