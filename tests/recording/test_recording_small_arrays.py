from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.recording import small_arrays
from dcnbio.recording.small_arrays import write_node

DTYPES = ("int8", "int64", "float16", "float32", "float64")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def dataset(n: int, dtype: str, texts: list[str], seed: int) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(n, 3, 2)) * 50).astype(dtype)
    variables = {
        "wide": (("stimulus", "time", "channel"), values, {"units": "1", "codes": '{"ok": 0}'}),
        "nothing": ("stimulus", np.zeros(n, dtype)),
        "reason": ("stimulus", np.array(texts, dtype=object)),
    }
    coordinates = {
        "stimulus": np.arange(n) * 2,
        "time": [0.0, 0.1, 0.3],
        "class": np.array(["cat", "dög"], dtype=object),
        "file": ("stimulus", np.array(texts[::-1], dtype=object), {"long_name": "file"}),
        "moment": (("stimulus", "time"), rng.normal(size=(n, 3))),
    }
    return xr.Dataset(variables, coordinates, {"nfe_per": "image"})


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=7), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 99))
def test_a_node_reads_back_as_it_was(tmp_path_factory, texts, dtype, seed):
    original = dataset(len(texts), dtype, texts, seed)
    path = tmp_path_factory.mktemp("node") / "node"
    write_node(path, original)
    found = xr.open_zarr(path, consolidated=False).load()
    xr.testing.assert_identical(found.astype(original.dtypes), original)
    for name in ("wide", "nothing", "stimulus", "moment"):
        assert found[name].dtype == original[name].dtype


def test_a_coordinate_that_no_variable_has_remains_one(tmp_path):
    original = xr.Dataset(
        {"nfe": ("stimulus", [1, 2])}, {"moment": (("stimulus", "time"), np.ones((2, 3)))}, {"a": "b"}
    )
    write_node(tmp_path / "node", original)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "node", consolidated=False).load(), original)


def test_long_variables_are_cut_and_the_last_piece_filled_up(tmp_path, monkeypatch):
    monkeypatch.setattr(small_arrays, "CHUNK_BYTES", 130)
    original = dataset(5, "float32", ["", "b", "", "ü", "e"], 0)
    write_node(tmp_path / "node", original)
    grid = json.loads((tmp_path / "node/wide/zarr.json").read_text())["chunk_grid"]
    assert grid["configuration"]["chunk_shape"] == [5, 3, 2]
    assert sorted(path.name for path in (tmp_path / "node/reason/c").iterdir()) == ["0", "1", "2"]
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "node", consolidated=False).load(), original)


def test_a_flipped_bit_is_seen(tmp_path):
    write_node(tmp_path / "node", dataset(4, "int64", list("abcd"), 0))
    for name in ("nothing/c/0", "reason/c/0"):
        file = tmp_path / "node" / name
        data = bytearray(file.read_bytes())
        data[9] ^= 1
        file.write_bytes(data)
        with pytest.raises(ValueError, match="checksum"):
            xr.open_zarr(tmp_path / "node", consolidated=False)[name.split("/")[0]].load()
