"""What is of another kind than a figure takes is refused in words, for every figure, and never in Python's."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.figures import figure_kinds, plot
from dcnbio.figures.catalogue import figure_kind

TAKES = {
    "recording": "a recording, from dcnbio.probe or dcnbio.open",
    "scales": "what dcnbio analyze scales --out wrote",
    "primate": "what dcnbio analyze primate --out wrote",
}
OTHERS = {
    "nothing": None,
    "number": 3.0,
    "array": np.zeros((2, 3)),
    "list": [1, 2],
    "empty tree": xr.DataTree(),
    "another tree": xr.DataTree(xr.Dataset({"logits": ("stimulus", [0.5])})),
    "dataset": xr.Dataset({"h": ("time", [0.0, 1.0])}),
    "empty dictionary": {},
}


@pytest.mark.parametrize("given", OTHERS)
@pytest.mark.parametrize("name", figure_kinds())
def test_what_is_no_result_is_refused_in_a_sentence(name, given):
    with pytest.raises(
        InputError, match=r"(result|recording|solver check|images|no unit|fields|these|no block|scale)"
    ) as caught:
        plot(name, OTHERS[given])
    assert len(str(caught.value).splitlines()) == 1


def marked(analysis):
    """A result of an analysis, as its file gives it."""
    return xr.DataTree(xr.Dataset(attrs={"dcnbio_analysis": analysis, "claims": "[]"}))


def recorded():
    """The outside of a recording."""
    tree = xr.DataTree(xr.Dataset(attrs={"provenance": "{}", "complete": 1}))
    tree["block1"] = xr.DataTree(xr.Dataset())
    return tree


@pytest.mark.parametrize("name", figure_kinds())
def test_a_result_of_another_kind_is_named_with_the_one_that_is_wanted(name):
    takes = figure_kind(name).takes
    for analysis in {"scales", "completion", "contrast", "responses", "primate"} - {takes}:
        with pytest.raises(InputError, match=rf"result is one of dcnbio analyze {analysis}, and {name} takes "):
            plot(name, marked(analysis))
    if takes not in ("recording", "spec"):
        wanted = re.escape(TAKES.get(takes, ""))
        with pytest.raises(InputError, match=rf"result is a recording, and {name} takes {wanted}"):
            plot(name, recorded())


@pytest.mark.parametrize("name", figure_kinds())
@pytest.mark.parametrize("given", ["run.zarr", Path("scales.nc")])
def test_a_file_that_was_not_opened_is_told_to_be(name, given):
    with pytest.raises(InputError, match=rf"result is '{re.escape(str(given))}', a name; {name} takes "):
        plot(name, given)
