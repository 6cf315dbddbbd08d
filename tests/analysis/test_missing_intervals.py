"""Where an interval is missing nothing is said to differ, and nothing is said not to: it cannot be told, and why."""

from __future__ import annotations

import math

import pytest

from dcnbio.analysis.completion.claims import fall_in_words
from dcnbio.analysis.completion.comparison import beside
from dcnbio.analysis.completion.paper_measure import Fall
from dcnbio.analysis.completion.resampling import Estimate
from dcnbio.analysis.scales.distribution_claims import better_family
from dcnbio.analysis.scales.training_alone import TrainingAlone
from dcnbio.analysis.statistics.held_out import HeldOut
from dcnbio.analysis.statistics.interval import Interval

FEW = Interval.none("4 clusters are too few to resample (at least 6)")
WHY = "cannot be told (4 clusters are too few to resample (at least 6))"


@pytest.mark.parametrize(("reading", "what"), [("A(t)", "it falls"), ("A(0)", "the difference itself changes")])
def test_a_fall_without_an_interval_cannot_be_told(reading: str, what: str) -> None:
    one = Estimate(0.5, FEW, 4)
    assert fall_in_words(reading, Fall(one, one, one)).endswith(f": whether {what} {WHY}.")
    seen = Estimate(0.9, Interval(0.8, 1.1), 40)
    assert "is not seen to" in fall_in_words(reading, Fall(seen, one, one))


def test_a_difference_of_losses_without_an_interval_cannot_be_told() -> None:
    said = beside(Estimate(0.5, FEW, 4), 14)
    assert said == f"Whether a mask of 14 pixels makes another loss of accuracy {WHY}"
    assert beside(Estimate(0.1, Interval(-0.1, 0.3), 40), 14).startswith("A mask of 14 pixels makes not surely another")


def test_families_without_an_interval_cannot_be_told_apart() -> None:
    said = better_family(HeldOut("gamma", math.nan, FEW))
    assert said == f"Whether a log-normal or a gamma describes held-out filters better {WHY}."
    assert better_family(HeldOut("gamma", 0.1, Interval(-0.1, 0.3))).startswith("Neither a log-normal nor a gamma")


@pytest.mark.parametrize(
    ("better", "compared", "said"),
    [(2, 6, "2 of 6"), (2, 4, "2 of 4, and of 2 it cannot be told"), (0, 0, "none, since it can be told of none")],
)
def test_convolutions_without_an_interval_are_not_counted_against_a_log_normal(
    better: int, compared: int, said: str
) -> None:
    numbers = {"distance": 0.1, "weighted": 0.1, "before": 0.1, "spread": 0.6, "share": 0.5}
    found = TrainingAlone("a", "constant", 0, 6, 0, 0, **numbers, better=better, compared=compared)
    assert f"better than a normal in {said}. In this network" in found.sentence
