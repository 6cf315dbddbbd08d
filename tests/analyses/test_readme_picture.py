"""The picture of the README is made by its script, of what it says it shows."""

from __future__ import annotations

import numpy as np
import pytest
import readme_picture
from PIL import Image

import dcnbio
from dcnbio.errors import InputError


@pytest.fixture
def small(tmp_path, monkeypatch):
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=0)
    monkeypatch.setattr(readme_picture, "CHECKPOINT", str(dcnbio.save(net, tmp_path / "small.safetensors")))


def test_what_is_shown_is_normalised_maps_and_distances_of_all_blocks(small):
    shown = readme_picture.measure(dcnbio.load_images(limit=4), position=1)
    intact, masked = shown.pixels
    assert not masked[9:23, 9:23].any()
    np.testing.assert_array_equal(np.delete(masked, np.s_[9:23], 0), np.delete(intact, np.s_[9:23], 0))
    for h in shown.maps:
        assert h["time"].values.tolist() == list(readme_picture.TIMES)
        # one channel to a group: mean 0 and variance 1 over the map, up to the norm's epsilon
        np.testing.assert_allclose(h.mean(("y", "x")), 0, atol=1e-6)
        np.testing.assert_allclose(h.var(("y", "x")), 1, atol=0.05)
    assert not np.allclose(shown.maps[0], shown.maps[1])
    table = shown.distances
    assert sorted(set(table["series"])) == ["centre hidden", "equal spectrum", "white noise"]
    assert sorted(set(table["panel"])) == ["block 1", "block 2"]
    assert table["value"].between(0, 2, inclusive="neither").all()


def test_the_picture_is_written_and_not_replaced_unasked(small, tmp_path, capsys):
    command = ["--limit", "4", "--position", "0", "--out", str(tmp_path / "picture.png")]
    readme_picture.main(command)
    assert "written to" in capsys.readouterr().out
    with Image.open(tmp_path / "picture.png") as image:
        assert image.width == 1500
    with pytest.raises(InputError, match="exists already; choose another name or pass --overwrite"):
        readme_picture.main(command)
