from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcnbio.errors import RecordingError
from dcnbio.recording import differences, fingerprint, gather_provenance
from dcnbio.recording.provenance import numbers_of, provenance_json

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_the_fingerprint_is_the_hash_of_canonical_json():
    expected = hashlib.sha256(b'{"seed": 0, "solver": {"atol": 0.001, "rtol": 0.001}}').hexdigest()
    assert fingerprint({"solver": {"rtol": 1e-3, "atol": 1e-3}, "date": "today", "seed": 0}) == expected


def test_only_what_defines_the_numbers_counts():
    one = gather_provenance({"seed": 0, "dtype": "float32"}, command="a", names={"checkpoint": "x.pth"})
    two = gather_provenance({"seed": 0, "dtype": "float32"}, command="b", names={"checkpoint": "y.pth"})
    assert fingerprint(one) == fingerprint({**two, "date": "2000-01-01", "platform": "elsewhere"})
    assert fingerprint(one) != fingerprint(gather_provenance({"seed": 0, "dtype": "float64"}, command="a"))
    other_torch = {**one, "versions": {**one["versions"], "torch": "0"}}
    assert fingerprint(one) != fingerprint(other_torch)
    assert fingerprint(one) == fingerprint({**one, "versions": {**one["versions"], "zarr": "0"}})


@given(st.dictionaries(st.text(), plain, max_size=5))
def test_equal_mappings_have_no_difference_and_one_fingerprint(mapping):
    shuffled = dict(reversed(mapping.items()))
    assert differences(mapping, shuffled) == []
    assert fingerprint(mapping) == fingerprint(shuffled)
    assert numbers_of(json.loads(provenance_json(mapping))) == numbers_of(mapping)


@given(st.dictionaries(st.sampled_from("abc"), plain, min_size=1), st.dictionaries(st.sampled_from("abc"), plain))
def test_a_difference_is_named_exactly_when_fingerprints_differ(one, two):
    assert (fingerprint(one) != fingerprint(two)) == bool(differences(one, two))


def test_differences_name_nested_fields_and_absent_ones():
    old = {"solver": {"rtol": 1e-3}, "tf32": False, "gone": None}
    new = {"solver": {"rtol": 1e-3, "method": "rk4"}, "tf32": True}
    assert differences(old, new) == [
        "gone was null and is now absent",
        'solver.method was absent and is now "rk4"',
        "tf32 was false and is now true",
    ]


def test_versions_are_those_installed_and_values_are_plain():
    about = gather_provenance({"seed": np.int64(3), "sigma": np.array([0.5]), "where": Path("a/b"), "none": None})
    assert about["versions"]["numpy"] == np.__version__
    assert "tensorflow" not in about["versions"]
    assert (about["seed"], about["sigma"], about["where"], about["none"]) == (3, [0.5], "a/b", None)
    assert json.loads(json.dumps(about)) == about


def test_the_date_is_utc_or_the_one_of_the_build(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert gather_provenance({})["date"].endswith("+00:00")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert gather_provenance({})["date"] == "1970-01-02T00:00:00+00:00"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(RecordingError, match="SOURCE_DATE_EPOCH is 'yesterday'; give whole seconds since 1970"):
        gather_provenance({})


def test_fields_that_cannot_be_kept_are_refused():
    with pytest.raises(RecordingError, match="provenance field 'date' is filled in by dcnbio"):
        gather_provenance({"date": "today"})
    with pytest.raises(RecordingError, match=r"provenance holds .* of type object; give numbers, text"):
        gather_provenance({"thing": object()})
