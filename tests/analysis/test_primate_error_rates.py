"""How often verdicts are wrong on simulated pairs: at most 5 %, at the bound and where nothing differs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dcnbio.analysis.primate.comparison import Bound, Published, Question, compared
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.published import PublishedHistogram
from dcnbio.analysis.primate.verdict import LIKE, TELL, UNLIKE, beyond_p, holm_levels, verdicts

EDGES = np.linspace(-2.5, 2.5, 11)
MIDDLES = (EDGES[:-1] + EDGES[1:]) / 2
SHARES = np.exp(-(MIDDLES**2) / 2) / np.exp(-(MIDDLES**2) / 2).sum()
SD = float(np.sqrt((SHARES * (MIDDLES**2 + 0.25 / 12)).sum()))
CELLS, UNITS, DRAWS = 80, 24, 399
ENDS = (-9.0, 9.0)


def most(pairs: int) -> int:
    """Errors that an error rate of 5 % exceeds in one of a hundred tests."""
    return int(stats.binom.ppf(0.99, pairs, 0.05))


def published(rng, error=0.0) -> Published:
    if error:
        return Published("made", value=0.3 + error * rng.standard_normal(), error=error)
    return Published(
        "made", PublishedHistogram("made", "all", False, EDGES, rng.multinomial(CELLS, SHARES), "made", "1")
    )


def drawn(rng, n=UNITS) -> np.ndarray:
    return EDGES[rng.choice(10, n, p=SHARES)] + 0.5 * rng.random(n)


def limited(rng, values) -> Units:
    """Make units of which about a quarter are limits."""
    limit = rng.uniform(0.3, 2.5, len(values))
    return Units(np.minimum(values, limit), (values > limit).astype(int), 0, ends=ENDS)


def known(values) -> Units:
    return Units(values, np.zeros(len(values), int), 0, ends=ENDS)


def sloped(rng, slope, limits=False) -> Units:
    x = rng.normal(size=UNITS)
    y, limit = (
        slope * x + 0.8 * rng.normal(size=UNITS),
        rng.uniform(-0.5, 3, UNITS) if limits else np.full(UNITS, np.inf),
    )
    return Units(np.stack([np.minimum(y, limit), x]), (y > limit).astype(int), 0, ends=ENDS, ends_of_x=ENDS)


def verdict_of(rng, statistic, units, bound, error=0.0) -> str:
    question = Question("made", "1", statistic, published(rng, error), Bound(bound, "made"))
    found = compared(question, units, rng, DRAWS)
    return verdicts([[found.draws]], [bound])[0].verdict


# the statistic; how many pairs; no difference; a difference of +bound, of -bound
KINDS = {
    "sd": (600, known, [(1.6, 0.0, 0.6 * SD), (0.5, 0.0, 0.5 * SD)]),
    "mean": (500, known, [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)]),
    "median": (400, known, [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)]),
    "median with limits": (300, None, [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_on_distributions_are_wrong_in_at_most_one_of_twenty(kind):
    pairs, made, edges = KINDS[kind]
    rng, statistic = np.random.default_rng(7), kind.split()[0]
    false_unlike, false_like = 0, [0, 0]
    for _ in range(pairs):
        for place, (scale, shift, bound) in enumerate([(1.0, 0.0, 0.0), *edges]):
            values = scale * drawn(rng) + shift
            units = limited(rng, values) if made is None else made(values)
            said = verdict_of(rng, statistic, units, bound)
            if place:
                false_like[place - 1] += said == LIKE
            else:
                false_unlike += said == UNLIKE
    assert max(false_unlike, *false_like) <= most(pairs)
    # and the test can see an effect at all: a verdict is not always withheld
    assert min(false_like) > 0.01 * pairs


@pytest.mark.slow
def test_verdicts_on_skewness_are_wrong_in_at_most_one_of_twenty():
    lopsided = np.exp(-((MIDDLES + 2.6) ** 2) / (2 * 1.7**2))
    lopsided /= lopsided.sum()
    fine = np.repeat(MIDDLES, 50) + np.tile((np.arange(50) - 24.5) / 100, 10)
    mean, weight = float((lopsided * MIDDLES).sum()), np.repeat(lopsided / 50, 50)
    truth = float((weight * (fine - mean) ** 3).sum() / (weight * (fine - mean) ** 2).sum() ** 1.5)
    assert 0.85 < truth < 0.95
    rng, pairs, units = np.random.default_rng(11), 700, 56  # enough for intervals that fit within the bound
    false_unlike, false_like = 0, [0, 0]
    for _ in range(pairs):
        false_unlike += verdict_of(rng, "skewness", known(drawn(rng, units)), 0.0) == UNLIKE
        values = EDGES[rng.choice(10, units, p=lopsided)] + 0.5 * rng.random(units)
        for place, sign in enumerate((1, -1)):
            false_like[place] += verdict_of(rng, "skewness", known(sign * values), truth) == LIKE
    assert max(false_unlike, *false_like) <= most(pairs)


@pytest.mark.parametrize(("limits", "pairs"), [(False, 500), (True, 120)])
def test_verdicts_on_slopes_are_wrong_in_at_most_one_of_twenty(limits, pairs):
    rng = np.random.default_rng(8)
    false_unlike, false_like = 0, [0, 0]
    for _ in range(pairs):
        false_unlike += verdict_of(rng, "slope", sloped(rng, 0.3, limits), 0.0, 0.05) == UNLIKE
        for place, by in enumerate((1.0, -1.0)):
            false_like[place] += verdict_of(rng, "slope", sloped(rng, 0.3 + by, limits), 1.0, 0.05) == LIKE
    assert max(false_unlike, *false_like) <= most(pairs)


def test_several_comparisons_together_are_called_unlike_in_at_most_one_of_twenty():
    rng, pairs, several = np.random.default_rng(9), 500, 6
    found = 0
    for _ in range(pairs):
        effects = [[rng.normal() + rng.normal(size=4999)] for _ in range(several)]
        found += UNLIKE in [one.verdict for one in verdicts(effects, [0.0] * several)]
    assert found <= most(pairs)
    assert found >= 0.02 * pairs  # Holm's first step spends all of the 5 %


def test_holm_steps_are_as_in_a_worked_example():
    # of 4: 0.005 <= 0.05 / 4, 0.01 <= 0.05 / 3, 0.03 > 0.05 / 2, so the rest is not looked at
    steps = holm_levels([0.01, 0.03, 0.04, 0.005])
    assert [rejected for rejected, _ in steps] == [True, False, False, True]
    assert [level for _, level in steps] == pytest.approx([1 - 0.05 / 3, 1 - 0.05 / 2, 1 - 0.05 / 2, 1 - 0.05 / 4])


def test_a_verdict_must_stand_under_every_reading():
    rng = np.random.default_rng(0)
    far, near, other_side = rng.normal(3, 0.1, 999), rng.normal(0.5, 0.1, 999), rng.normal(-3, 0.1, 999)
    assert [one.verdict for one in verdicts([[far, far + 1]], [1.0])] == [UNLIKE]
    assert [one.verdict for one in verdicts([[far, near]], [1.0])] == [TELL]
    assert [one.verdict for one in verdicts([[far, other_side]], [1.0])] == [TELL]
    assert [one.verdict for one in verdicts([[near, near - 0.8]], [1.0])] == [LIKE]
    assert [one.verdict for one in verdicts([[near, near + 0.4]], [1.0])] == [TELL]
    assert beyond_p([far, near], 1.0) == 1.0


def test_a_far_effect_is_unlike_and_a_certain_nothing_is_like():
    rng = np.random.default_rng(2)
    assert verdict_of(rng, "median", known(rng.normal(3, 1, 200)), 0.5) == UNLIKE
    assert verdict_of(rng, "median", known(drawn(rng, 400)), 0.5) == LIKE
