"""Networks against each other on the same images: which loses more accuracy by a mask."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.completion.claims import claim_of, control_of
from dcnbio.analysis.completion.conditions import INTACT, condition_groups, mask_sides
from dcnbio.analysis.completion.network import NetworkCompletion
from dcnbio.analysis.completion.readout import accuracy, correct, has_labels
from dcnbio.analysis.completion.resampling import Estimate, Resampler
from dcnbio.analysis.completion.wording import percent, points
from dcnbio.analysis.shapes import Floats

__all__ = ["comparison_claims"]


def comparison_claims(networks: Sequence[NetworkCompletion], resampler: Resampler) -> list[Claim]:
    """Compare the first network with each other one that was shown the same images, mask by mask, paired over images.

    Parameters
    ----------
    networks : sequence of NetworkCompletion
    resampler : Resampler

    Returns
    -------
    list of Claim
        None for networks of other images, without labels, or not surely above chance, which have nothing to lose.
    """
    if not networks or not has_labels(networks[0].flow) or not above_chance(networks[0], resampler):
        return []
    first, claims = networks[0], []
    for other in networks[1:]:
        if not same_images(first, other) or not above_chance(other, resampler):
            continue
        before = [correct(one.flow, [INTACT])[:, -1] for one in (first, other)]
        intact = control_of("difference of accuracy on intact images", resampler.paired(*before))
        for side in sorted(set(mask_sides(first.flow)) & set(mask_sides(other.flow))):
            difference = resampler.mean(change(first, side) - change(other, side))
            who = f"{first.name} than in {other.name}, one network each"
            text = f"{beside(difference, side)} in {who}: "
            text += f"difference of the changes {points(difference)}; intact {percent(before[0].mean())} and "
            text += f"{percent(before[1].mean())} are right.{borders(first, other)}"
            title = f"{first.name} minus {other.name}: accuracy change by a mask of {side} pixels"
            claims.append(claim_of(title, difference, intact, text))
    return claims


def beside(difference: Estimate, side: int) -> str:
    """Begin a sentence on the difference of two losses, or say that nothing can be told of it."""
    mask, interval = f"mask of {side} pixels", difference.interval
    if not interval.exists:
        return f"Whether a {mask} makes another loss of accuracy cannot be told ({interval.reason})"
    sure = "not surely another" if 0 in interval else "a smaller" if difference.value > 0 else "a larger"
    return f"A {mask} makes {sure} loss of accuracy"


def borders(first: NetworkCompletion, other: NetworkCompletion) -> str:
    """Say where networks were trained on images with borders of different kinds, of which one is like a mask."""
    known = {network.flow.attrs.get("training_border", ""): network.name for network in (first, other)}
    if set(known) != {"black", "mirror"}:
        return ""
    return (
        f" Images moved in training had black borders for {known['black']} and mirrored ones for {known['mirror']}, "
        "which met no black areas at the end of its training: the difference may be that."
    )


def above_chance(network: NetworkCompletion, resampler: Resampler) -> bool:
    """Whether a network is surely better than guessing on intact images."""
    found, classes = accuracy(network.flow, [INTACT], resampler), network.flow.sizes["class"]
    low = found.interval.low if found.interval.exists else found.value
    return low > 1 / classes


def same_images(first: NetworkCompletion, other: NetworkCompletion) -> bool:
    """Whether two networks were shown the same images, with the same labels."""
    alike = all(np.array_equal(first.flow[name].values, other.flow[name].values) for name in ("stimulus", "label"))
    return alike and first.flow.attrs.get("images") == other.flow.attrs.get("images")


def change(network: NetworkCompletion, side: int) -> Floats:
    """Give each image's change of being right by a mask, its placements averaged."""
    names = condition_groups(network.flow)[f"mask {side}"]
    return correct(network.flow, names)[:, -1] - correct(network.flow, [INTACT])[:, -1]
