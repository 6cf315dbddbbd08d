"""A median that is a limit is told as one everywhere: no interval, no difference, a mark in JSON and in every table."""

from __future__ import annotations

import numpy as np
import pytest

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.change_beside_twin import change_in_units
from dcnbio.analysis.responses.generators import Beside
from dcnbio.analysis.responses.limits import KnownValues
from dcnbio.analysis.responses.medians import difference_of_medians, median_of_values
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.commands.change_report import change_row
from dcnbio.commands.responses_report import row

VALUES = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
KNOWN, BELOW, ABOVE = (np.full(8, side) for side in (0, -1, 1))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("sides", "limit", "mark"), [(BELOW, -1, "<"), (ABOVE, 1, ">")])
def test_where_all_units_are_limits_the_median_is_one_and_has_no_interval(sides, limit, mark):
    found = median_of_values(VALUES, rng(), sides)
    assert (found.value, found.beyond, str(found)) == (4.5, limit, f"{mark}4.5")
    assert not found.interval.exists
    assert "a median is a limit" in found.interval.reason


def test_a_median_of_known_values_has_an_interval_around_it():
    found = median_of_values(VALUES, rng(), KNOWN)
    assert found.beyond == 0
    low, high = found.interval.to_list()
    assert low <= found.value <= high


def test_no_difference_is_given_from_a_limit():
    difference, interval = difference_of_medians(VALUES + 2, VALUES, rng(), (KNOWN, KNOWN))
    assert difference == 2.0
    assert interval.exists
    none, interval = difference_of_medians(VALUES + 2, VALUES, rng(), (KNOWN, ABOVE))
    assert np.isnan(none)
    assert "a median is a limit" in interval.reason


def test_json_says_of_a_claim_and_of_its_control_that_it_is_a_limit():
    here, there = median_of_values(VALUES, rng(), BELOW), median_of_values(VALUES, rng(), ABOVE)
    control = there.control("the same network untrained")
    said = here.claim("width, median", control, "It is wide").to_dict()
    assert (said["limit"], said["control"]["limit"]) == ("upper", "lower")
    plain = Claim("width", 1, "units", 1.0, Interval.none("one"), Control("none"), "It is 1.").to_dict()
    assert "limit" not in plain
    assert "limit" not in plain["control"]


def test_tables_mark_limits():
    here = median_of_values(VALUES, rng(), BELOW)
    told = here.claim("width, median", Control("the same network untrained", 2.0), "It is wide")
    assert row(told, "width, median") == ["width", "8", "<4.5", "-", "2"]
    change = change_in_units(
        ("f1_f0", "1"), KnownValues(VALUES, ABOVE), KnownValues(VALUES, KNOWN), Beside(*rng().spawn(3))
    )
    assert change_row(change) == ["F1 / F0", "8", ">4.50", "-", "-", "4.50", "-"]
    assert change.to_dict()["limits"] == {"change": "lower"}
