"""What is said of one network's accuracy under masks, its D(t), its completion index and its retrieval."""

from __future__ import annotations

import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.completion.conditions import condition_groups, main_mask, mask_sides, named_conditions
from dcnbio.analysis.completion.index import completion_index
from dcnbio.analysis.completion.network import NetworkCompletion
from dcnbio.analysis.completion.paper_measure import Fall, difference_fall
from dcnbio.analysis.completion.readout import accuracy, accuracy_drop, retrieval
from dcnbio.analysis.completion.resampling import Estimate, Resampler
from dcnbio.analysis.completion.verdict import Verdict
from dcnbio.analysis.completion.wording import limited, percent, points

__all__ = ["accuracy_claims", "claim_of", "control_of", "index_claims", "paper_claims", "region_claims"]

STILL = "no time"
OTHERS = ("other patch", "random place")
REGIONS = ("inside", "border", "outside")


def claim_of(name: str, one: Estimate, control: Control, conclusion: str) -> Claim:
    """Make a claim of an estimate over images."""
    return Claim(name, one.n, "images", one.value, one.interval, control, conclusion)


def control_of(name: str, one: Estimate) -> Control:
    """Make a control of an estimate; its name says why it is none."""
    return Control(f"{name}: {one.reason}" if one.reason else name, one.value, one.interval)


def accuracy_claims(network: NetworkCompletion, resampler: Resampler) -> list[Claim]:
    """Say what masks of each side cost in accuracy, paired, beside what they cost the twin without time."""
    found = []
    for side in mask_sides(network.flow):
        names = condition_groups(network.flow)[f"mask {side}"]
        drop = accuracy_drop(network.flow, names, resampler)
        still = network.twins.get(STILL)
        if still is None:
            control = Control("no dynamics to take away: residual blocks")
        else:
            control = control_of(without_time(still, resampler), accuracy_drop(still, names, resampler))
        text = f"A central {side} x {side} mask of zeros changes this network's accuracy by {points(drop)}."
        found.append(claim_of(f"{network.name}: accuracy change by a mask of {side} pixels", drop, control, text))
    return found


def without_time(still: xr.Dataset, resampler: Resampler) -> str:
    """Name the twin without time, and what it has to lose: one that guesses loses nothing under any mask."""
    name, right = "the same weights without time", accuracy(still, ["intact"], resampler)
    if right.reason:
        return name
    guesses = right.interval.exists and right.interval.low <= 1 / still.sizes["class"]
    return f"{name}, {percent(right.value)} right intact" + (", which is guessing: nothing to lose" if guesses else "")


def paper_claims(network: NetworkCompletion, block: int, resampler: Resampler) -> list[Claim]:
    """Give the paper's D(T) / D(0) in both readings of A, beside the fall that the amplitude alone makes."""
    found = []
    names = main_mask(network.flow)
    for reading in ("A(t)", "A(0)"):
        measured = difference_fall(network.flow, names, block, resampler, reading)
        text = fall_in_words(reading, measured)
        twins = {
            variant: difference_fall(data, names, block, resampler, reading).fall
            for variant, data in network.twins.items()
        }
        told = [f"{variant} {one.value:.2f}" for variant, one in twins.items() if not one.reason]
        text += f" Twins: {', '.join(told)}." if told else ""
        name = "A(0) / A(T), a difference that stays" if reading == "A(t)" else "a difference that stays"
        title = f"{network.name} block {block}: the paper's D(T) / D(0), A = {reading}"
        found.append(claim_of(title, measured.fall, control_of(name, measured.null), text))
    return found


def fall_in_words(reading: str, found: Fall) -> str:
    """Say what D does, and what of it the amplitude makes."""
    fall, null = found.fall, found.null
    if fall.reason:
        return f"D is not defined: {fall.reason}."
    if reading == "A(0)":
        whole = {
            -1: "the difference itself shrinks",
            0: "the difference itself is not seen to change",
            1: "the difference itself grows",
            None: f"whether the difference itself changes cannot be told ({fall.interval.reason})",
        }[side_of(fall, 1.0)]
        return f"With A at 0, D(T) is {fall.value:.2f} of D(0): {whole}."
    untold = "it falls, and whether by more than the amplitude's growth makes it cannot be told"
    beside_null = {
        -1: "it falls by more than the amplitude's growth makes it",
        0: untold,
        1: "it falls by less than the amplitude's growth alone would make it",
        None: untold,
    }[side_of(found.beyond, 0.0)]
    what = {
        -1: beside_null,
        0: "it is not seen to fall",
        1: "it rises",
        None: f"whether it falls cannot be told ({fall.interval.reason})",
    }[side_of(fall, 1.0)]
    return f"With A at t, D(T) is {fall.value:.2f} of D(0), {null.value:.2f} for a difference that stays: {what}."


def side_of(one: Estimate, value: float) -> int | None:
    """Say whether an estimate surely lies below (-1) or above (1) a value, or neither (0); None without an interval."""
    if not one.interval.exists:
        return None
    return -1 if one.interval.high < value else 1 if one.interval.low > value else 0


def index_claims(network: NetworkCompletion, block: int, verdict: Verdict, resampler: Resampler) -> list[Claim]:
    """Give the completion index beside noise of equal norm and the twins, retrieval, and what follows."""
    place = f"{network.name} block {block}"
    mask = main_mask(network.flow)
    twins = {name: completion_index(data, mask, block, resampler) for name, data in network.twins.items()}
    shown = condition_groups(network.flow)
    other_names = {name: shown[name] for name in OTHERS if name in shown}
    other_names |= {"scrambled images": names} if (names := named_conditions(network.flow, "scrambled")) else {}
    others = {name: completion_index(network.flow, names, block, resampler) for name, names in other_names.items()}
    beside = "; ".join(
        f"{name} {limited(one)}" for name, one in (verdict.noise | verdict.fills | others | twins).items()
    )
    every = [verdict.index, *(verdict.noise | verdict.fills | others | twins).values()]
    alike = len({one.reason for one in every}) == 1 and bool(verdict.index.reason)  # nothing is defined, for one reason
    excluded = f"; {verdict.index.excluded} images left out" if verdict.index.excluded else ""
    claims = [
        claim_of(
            f"{place}: completion index",
            verdict.index,
            control_of("white noise of equal norm", verdict.noise["white noise"]),
            f"Index {limited(verdict.index)} under the mask{excluded}" + ("." if alike else f"; beside it {beside}."),
        )
    ]
    for kind, beyond in verdict.beyond.items():
        sure = {-1: "lower than", 0: "not surely other than", 1: "higher than", None: ""}[side_of(beyond, 0.0)]
        text = f"The mask's index is {sure} that of {kind} of equal norm: difference {limited(beyond)}."
        if not sure:
            why = beyond.reason or beyond.interval.reason
            text = f"The mask's index cannot be compared with that of {kind} of equal norm ({why})."
        title = f"{place}: index of the mask minus that of {kind} of equal norm"
        claims.append(claim_of(title, beyond, Control("no difference", 0.0), text))
    noise = retrieval(network.flow, ["white noise"], block, resampler)[2]
    rise = verdict.rise
    text = f"Own intact map nearest of {len(network.flow['stimulus'])}: {percent(verdict.retrieved.value)} at 0, "
    text += f"{points(rise)} at T." if not rise.reason else f"change not defined ({rise.reason})."
    title = f"{place}: change of retrieval from 0 to T"
    claims.append(claim_of(title, rise, control_of("white noise of equal norm", noise), text))
    return claims


def region_claims(network: NetworkCompletion, block: int, resampler: Resampler) -> list[Claim]:
    """Give the index inside, at the border of and outside the mask's place on the map."""
    mask = main_mask(network.flow)
    found = []
    known = [str(region) for region in network.flow["region"].values]
    for region in (one for one in REGIONS if one in known):
        one = completion_index(network.flow, mask, block, resampler, region=region)
        noise = completion_index(network.flow, ["white noise"], block, resampler, region=region)
        where = "at the border of" if region == "border" else region
        title = f"{network.name} block {block}: completion index, {where} the mask's place"
        text = f"Where the map lies {where} the mask's place the index is {limited(one)}."
        found.append(claim_of(title, one, control_of("white noise of equal norm", noise), text))
    return found
