"""Tables of ``dcnbio analyze responses`` fit 80 columns whatever the numbers are."""

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.beyond import Beyond
from dcnbio.analysis.responses.change_beside_twin import ChangeBesideTwin
from dcnbio.analysis.responses.claims import PLAIN
from dcnbio.analysis.responses.intervention_change import OCTAVES
from dcnbio.analysis.responses.measure_names import CENSORED, MEASURES
from dcnbio.analysis.responses.medians import UnitMedian
from dcnbio.analysis.responses.predictions import PREDICTIONS
from dcnbio.analysis.responses.result import ResponsesResult
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.commands.change_report import SHOWN
from dcnbio.commands.responses_report import UNTRAINED, report

WIDE = Interval(-0.00123456, -0.000123456)


def wide_change(name: str) -> ChangeBesideTwin:
    units = "octaves" if name in OCTAVES else "1" if name == "accuracy" else MEASURES[name][1]
    block = None if name == "accuracy" else 3
    limits = Interval(-12.3456, -11.2345)
    median = UnitMedian(-12.3456, limits, 128, 0, 0, (-12.3456, -12.3456))
    return ChangeBesideTwin(name, units, median, median, -12.3456, limits, median, "orders=0,2", block)


def wide_result(value: float) -> ResponsesResult:
    names = [f"block 3: {words}, median" for words in PLAIN.values()]
    claims = [
        Claim(name, 128, "units of one network", value, WIDE, Control(UNTRAINED, value, WIDE), "It is.")
        for name in names
    ]
    median = UnitMedian(value, WIDE, 128, 0, 0, (value, value))
    beyond = [
        Beyond(one.name, one.short, one.by, median, median, median, median, median, median, value, WIDE)
        for one in PREDICTIONS
    ]
    units = {name: ("unit", np.full(128, value)) for name in PLAIN}
    flags = {f"censored_{name}": ("unit", np.ones(128, bool)) for name in PLAIN if name in CENSORED}
    measures = xr.Dataset({**units, **flags}, {"block": ("unit", np.full(128, 3))})
    measures.attrs = {"network": "a-network-with-a-long-name" * 2, "row": "dcn-sigma-alpha-t", "signal": "h_change"}
    changes = tuple(wide_change(name) for name in SHOWN)
    return ResponsesResult(measures, None, None, beyond={3: beyond}, changes=changes, claims=tuple(claims))


@pytest.mark.parametrize("value", [-0.00123456, -123.456, 0.5, -1.23456e-5])
def test_every_table_fits_80_columns(value):
    text = report(wide_result(value))
    assert max(map(len, text.splitlines())) <= 80
    assert "\nby a mask across" in text
    assert text.count("-12.35*") == len(SHOWN)
    assert f"Of {len(SHOWN)} differences (those of --json included) {len(SHOWN)} leave out 0, where 0.6 would" in (
        " ".join(text.split())
    )
    assert "half-width of orientation tuning (degrees): of 128 units 128 with a limit alone" in " ".join(text.split())
