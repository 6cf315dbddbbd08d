"""What stands beside a comparison, and what of it is built in: untrained network, ode-net, N-jets, norm and law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import limit_mark, limit_word
from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.change_questions import TIMING
from dcnbio.analysis.primate.comparison import Comparison
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.resampling import stated
from dcnbio.analysis.primate.verdict import LIKE, TELL, UNLIKE
from dcnbio.analysis.statistics.open_ends import closed, open_percentiles

__all__ = ["with_controls"]

FEW = "one network's channels share their training and cannot show likeness within 25 %"
NORM_SHARE = 0.5  # of a measure in octaves, above which it is the norm's doing


def stated_or_none(statistic: str, units: Units | None) -> tuple[float, int] | None:
    """Give a statistic as `compared` does, and whether it is a limit; None where no unit has a value, or none is known.

    Of a median that is a limit it gives values and limits as they stand.
    """
    found = None if units is None or not units.known else stated(statistic, units)
    return None if found is None or np.isnan(found[0]) else found


def numbers(name: str, found: tuple[float, int] | None) -> dict[str, Any]:
    """Give a control under its name, and beside it on which side the truth lies where it is a limit."""
    if found is None:
        return {}
    return {name: found[0]} | {f"{name}_{key}": word for key, word in limit_word(found[1]).items()}


def held_control(one: Asked, measures: xr.Dataset) -> tuple[dict[str, Any], str]:
    """Give what remains in octaves with the norms' statistics held; and the reason to call it the norm's, if any."""
    pair = None if one.held is None else one.held(measures)
    as_is, held = (None, None) if pair is None else (stated_or_none("median", each) for each in pair)
    if as_is is None or held is None:
        return {}, ""
    found = numbers("octaves", as_is) | numbers("octaves_with_norm_statistics_held", held)
    if as_is[0] == 0 or as_is[1] or held[1]:
        return found, ""  # of limits there is no share
    share = 1 - held[0] / as_is[0]
    found["norms_share"] = share
    said = f"with the norms' statistics held it is {held[0]:.2g} octaves where it was {as_is[0]:.2g}"
    return found, said if share > NORM_SHARE else ""


def other_network(name: str, own: Comparison, other: Comparison | None) -> dict[str, Any]:
    """Give the effect of another network, and the difference of the two with its interval."""
    if other is None:
        return {}
    if not np.isfinite(other.effect):
        return {f"{name}_effect": None, f"{name}_n": other.units.n, f"{name}_reason": other.reason}
    found: dict[str, Any] = {
        **numbers(f"{name}_effect", (other.effect, other.limit)),
        f"{name}_interval": other.interval(),
        f"{name}_verdict": other.verdict,
        f"{name}_n": other.units.n,
    }
    ends = ends_of_difference(own, other)
    if ends is not None:
        found[f"minus_{name}"] = own.effect - other.effect
        found[f"minus_{name}_interval"] = list(ends) if closed(*ends)[0] else None
    return found


def ends_of_difference(own: Comparison, other: Comparison) -> tuple[float, float] | None:
    """Give the percentiles of the difference of two networks, one may be infinite; None of limits."""
    if own.own_draws is None or other.own_draws is None or own.limit or other.limit:
        return None
    with np.errstate(invalid="ignore"):
        differences = own.own_draws - other.own_draws  # NaN, not known, where both lie beyond all that is known
    return open_percentiles(differences, (0.025, 0.975))


def sign_of(value: float, limit: int) -> float:
    """Give the sign of a number; 0 of a limit that leaves it open.

    Examples
    --------
    >>> sign_of(2.0, 0), sign_of(2.0, 1), sign_of(2.0, -1)
    (1.0, 1.0, 0.0)
    """
    return 0.0 if limit * value < 0 else float(np.sign(value))


def does_the_same(own: Comparison, other: Comparison | None) -> bool:
    """Say whether another network has the same verdict; on the other side of the data it is unlike in another way."""
    if other is None or own.verdict not in (LIKE, UNLIKE) or other.verdict != own.verdict:
        return False
    return own.verdict == LIKE or own.effect * other.effect > 0


def no_different(own: Comparison, other: Comparison | None) -> bool:
    """Say whether another network lies on the same side of the bound, by a difference that is itself within the bound.

    Of the other's own verdict nothing is asked: with more units without a value it may be that nobody can tell.
    """
    bound = own.question.bound.value
    ends = None if other is None else ends_of_difference(own, other)
    if other is None or bound is None or ends is None:
        return False
    low, high = ends
    inside = abs(other.effect) < bound
    same_side = inside if own.verdict == LIKE else not inside and own.effect * other.effect > 0
    return bool(own.verdict in (LIKE, UNLIKE) and same_side and -bound < low and high < bound)


def explained(own: Comparison) -> list[str]:
    """Say what stood in the way of a verdict, and what is known of the units."""
    units, reasons = own.units, []
    both, lacks = closed(*own.ends())
    if own.limit:
        reasons.append(
            "half the units or more are limits, so the median is one too, with limits as they stand; a verdict must "
            "stand wherever beyond them they lie"
        )
    elif own.draws is not None and not both:
        reasons.append(f"no 95 % interval of the effect: {lacks}")
    if own.verdict == TELL:
        low, high = own.ends(own.holm_level)
        bound = own.question.bound.value or 0.0
        alone = own.others and (low > bound or high < -bound)
        held_up = (
            "; the units and cells as they are would be unlike, but not under every other reading" if alone else ""
        )
        reasons.append(f"n = {units.n} units are too few or the effect is near the bound{held_up}")
    if own.verdict == LIKE:
        reasons.append(FEW)
    if own.question.bound.value is None and own.draws is not None:
        reasons.append(own.question.bound.source)
    parts = [
        (units.missing, "without a known value"),
        (units.censored, "with a limit alone"),
        (units.outside, "left out"),
    ]
    counted = [f"{count} {what}" for count, what in parts if count]
    if counted:
        reasons.append(f"units: {', '.join(counted)}")
    return reasons


def with_controls(
    one: Asked, own: Comparison, others: Mapping[str, Comparison | None], measures: xr.Dataset
) -> Comparison:
    """Put other networks, theory and held norms beside a comparison, and say what is built in.

    Parameters
    ----------
    one : Asked
    own : Comparison
    others : mapping of str to Comparison or None
        Of "untrained" and "ode_net".
    measures : xarray.Dataset

    Returns
    -------
    Comparison
        Its verdict ends in "built in" where the untrained network does the same or lies on the same side of the bound
        by a difference within it, where the norm makes more than half of it on a scale of octaves, or where the
        contrast-time law gives the same sign of timing.
    """
    controls: dict[str, Any] = {}
    for name, other in others.items():
        controls |= other_network(name, own, other)
    decided = own.verdict in (LIKE, UNLIKE)
    why = []
    untrained = others.get("untrained")
    if does_the_same(own, untrained):
        why.append("the untrained network does the same")
    elif no_different(own, untrained):
        why.append("the untrained network differs from it by less than the bound")
    held, norms = held_control(one, measures)
    controls |= held
    if norms and decided:
        why.append(norms)
    described_norms = [norms] if norms and not decided else []
    frozen = stated_or_none(one.question.statistic, None if one.frozen is None else one.frozen(measures))
    controls |= numbers("with_norm_statistics_frozen", frozen)
    by_law = stated_or_none(one.question.statistic, None if one.law is None else one.law(measures))
    controls |= numbers("by_law", by_law)
    if decided and one.question.name == TIMING and by_law is not None and sign_of(*by_law) * own.effect > 0:
        why.append(f"the contrast-time law alone gives {limit_mark(by_law[1])}{by_law[0]:.2g} octaves")
    if one.njets:
        controls["njets"] = dict(one.njets)
    reasons = [*([own.reason] if own.reason else []), *why, *described_norms, *explained(own)]
    verdict = f"{own.verdict}, built in" if why else own.verdict
    return replace(own, verdict=verdict, reason="; ".join(reasons), controls=controls)
