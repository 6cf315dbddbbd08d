"""``tree.dcn`` and what notebooks show."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.checkpoint import read_header
from dcnbio.model.loading import find_checkpoint


@pytest.fixture(scope="module")
def tree(recording):
    dcnbio.open  # noqa: B018 - the first use registers the accessor
    return recording


def test_blocks_and_one_block(tree):
    assert tree.dcn.blocks == ["block1", "block2"]
    assert tree.dcn.block(2)["h"].sizes["channel"] == 16
    with pytest.raises(InputError, match=r"block is 3; this recording has block1, block2\."):
        tree.dcn.block(3)


def test_a_function_is_applied_to_every_block_and_the_root_stays(tree):
    doubled = tree.dcn.map(lambda data: data.assign(h=2 * data["h"]))
    np.testing.assert_array_equal(doubled["block1"]["h"], 2 * tree["block1"]["h"])
    np.testing.assert_array_equal(doubled["logits"], tree["logits"])


def test_at_gives_the_nearest_recorded_time_and_refuses_others(tree):
    assert tree.dcn.at(0.9)["block1"]["h"].time.values.tolist() == [1.0]
    with pytest.raises(InputError, match=r"time is 3; block1 was recorded from 0 to 2 \(solver time\)"):
        tree.dcn.at(3)


def test_images_are_picked_by_their_index_in_the_source(tree):
    index = [int(i) for i in tree["stimulus"].values]
    picked = tree.dcn.images(index[2], index[0])
    np.testing.assert_array_equal(picked["block1"]["h"][0], tree["block1"]["h"][2])
    with pytest.raises(InputError, match="stimulus -5 is not in this recording"):
        tree.dcn.images(-5)


def test_the_norm_is_that_of_all_recorded_values(tree):
    expected = np.sqrt((tree["block2"]["h"].astype("float64") ** 2).sum(("channel", "y", "x")))
    np.testing.assert_allclose(tree.dcn.norm()["block2"], expected, rtol=1e-12)


def test_figures_are_drawn_by_name(tree):
    figure = tree.dcn.plot.feature_maps()
    assert len(figure.axes) == len(tree.dcn.plot("feature_maps").axes) == 12
    assert "feature_maps" in dir(tree.dcn.plot)
    with pytest.raises(AttributeError, match="a recording has no figure 'sigma_depth'; it has architecture"):
        _ = tree.dcn.plot.sigma_depth


def test_notebooks_show_networks_headers_and_recordings_as_tables(tree):
    net = dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=8)
    shown = net._repr_html_()
    assert "Network dcn-ode" in shown
    assert f"{sum(p.numel() for p in net.parameters()):,}" in shown
    header = read_header(find_checkpoint("dcn-ode"))._repr_html_()
    assert "Checkpoint of dcn-ode" in header
    assert "accuracy" in header
    assert "8 \u00d7 30 \u00d7 30" in tree.dcn._repr_html_()
    assert "NFE per image" in tree.dcn._repr_html_()
    assert "4 images" in tree.dcn._repr_html_()


def test_tables_of_notebooks_take_the_colours_of_the_page(tree):
    shown = [
        dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=8)._repr_html_(),
        read_header(find_checkpoint("dcn-ode"))._repr_html_(),
        tree.dcn._repr_html_(),
    ]
    assert all("<table>" in one for one in shown)
    assert not [one for one in shown if "color" in one or "background" in one]


def test_the_accessor_is_there_once_dcnbio_opens_or_probes_and_brings_no_matplotlib():
    code = (
        "import sys, dcnbio; dcnbio.open; import xarray; xarray.DataTree().dcn; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
