"""The named rows, their sizes, and what a spec accepts."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.model.network import Network, build
from dcnbio.model.rows import ROWS, row_spec
from dcnbio.model.spec import NetworkSpec

# the paper's appendix and the public code
PARAMETERS = {
    "ode-net": 559562,
    "resnet-blocks": 554634,
    "resnet-srf-blocks": 425616,
    "resnet-srf-full": 322707,
    "dcn-ode": 428752,
    "dcn-full": 325843,
    "dcn-sigma-ji": 472202,
    "dcn-sigma-t": 428758,
    "dcn-sigma-t2": 428764,
    "dcn-sigma-alpha-t": 689494,
}
BAD = [
    ({"depth": "deep"}, r"depth is 'deep'; allowed are ode, residual"),
    ({"kernels": "dense"}, r"kernels is 'dense'; allowed are pixel, srf, srf-pair"),
    ({"outer_kernels": "srf-pair"}, r"outer_kernels is 'srf-pair'; allowed are pixel, srf"),
    ({"activation": "gelu"}, r"activation is 'gelu'; allowed are celu, relu"),
    ({"integration_time": -1.0}, r"integration_time is -1.0; give one finite number of 0 or more"),
    ({"integration_time": math.inf}, r"integration_time is inf"),
    ({"integration_time": (1.0, 2.0)}, r"one for each of the 3 blocks"),
    ({"kernel_order": -1}, r"kernel_order is -1; allowed are whole numbers from 0 to 20"),
    ({"sigma_degree": 3}, r"sigma_degree is 3; allowed are whole numbers from 0 to 2"),
    ({"alpha_degree": 2}, r"alpha_degree is 2; allowed are whole numbers from 0 to 1"),
    ({"sigma_degree": 1, "kernels": "pixel"}, r"need kernels='srf' and depth='ode'"),
    ({"alpha_degree": 1, "depth": "residual"}, r"need kernels='srf' and depth='ode'"),
    ({"norm_groups": -1}, r"norm_groups is -1"),
    ({"norm_groups": 5}, r"each must be positive and a multiple of the number of norm groups \(5 at 32 channels\)"),
    ({"classes": 0}, r"classes is 0"),
    ({"pair_size": 6}, r"pair_size is 6; a kernel needs an odd width"),
    ({"pair_size": 65}, r"pair_size is 65; allowed are whole numbers from 1 to 63"),
    ({"window": 0.1}, r"window is 0.1; allowed are 0.5 to 16 sigma"),
    ({"widths": ()}, r"the number of widths is 0; allowed are whole numbers from 1 to 5"),
    ({"widths": (8,) * 6}, r"the number of widths is 6"),
    ({"widths": (0, 8)}, r"widths are \(0, 8\); each must be positive"),
]


def parameters(net: Network) -> int:
    return sum(p.numel() for p in net.parameters())


@pytest.mark.parametrize("row", PARAMETERS)
def test_rows_have_as_many_parameters_as_the_papers(row):
    assert parameters(build(row)) == PARAMETERS[row]


@pytest.mark.parametrize(
    ("row", "time", "activation"),
    [("ode-net-t2", 2.0, "relu"), ("ode-net-celu", 1.0, "celu"), ("ode-net-celu-t2", 2.0, "celu")],
)
def test_variants_of_ode_net_in_table_6(row, time, activation):
    spec = row_spec(row)
    assert (spec.integration_time, spec.activation, spec.kernels) == ((time,) * 3, activation, "pixel")
    assert parameters(build(row)) == PARAMETERS["ode-net"]
    assert spec.with_overrides(integration_time=1.0, activation="relu", row="ode-net") == row_spec("ode-net")


@pytest.mark.parametrize("row", ROWS)
def test_integration_time_is_two_for_dcns_and_one_for_ode_net(row):
    times = set(row_spec(row).integration_time)
    assert times == ({2.0} if row.startswith("dcn") or row.endswith("t2") else {1.0})


@pytest.mark.parametrize("kernel_order", [0, 1, 3, 6])
def test_higher_orders_add_alphas(kernel_order):
    functions = (kernel_order + 1) * (kernel_order + 2) // 2
    alphas = sum(2 * (width + 1) * width for width in (32, 64, 128))
    assert parameters(build("dcn-ode", kernel_order=kernel_order)) == 428752 + (functions - 6) * alphas


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_what_no_network_can_be_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        NetworkSpec(row="mine", **settings)


def test_unknown_rows_name_the_known_ones():
    with pytest.raises(InputError, match=r"model is 'dcn'; the named rows are ode-net, .*dcn-sigma-alpha-t"):
        build("dcn")


def test_unknown_settings_name_the_known_ones():
    with pytest.raises(InputError, match=r"width is no setting of a network; known are .*widths"):
        build("dcn-ode", width=3)
    with pytest.raises(InputError, match=r"vector_field is no setting"):
        row_spec("dcn-ode", vector_field="mine")


def test_times_of_single_blocks():
    spec = row_spec("dcn-ode", integration_time={1: 0.12, "3": 1})
    assert spec.integration_time == (0.12, 2.0, 1.0)
    for block in (0, 4):
        with pytest.raises(InputError, match=rf"integration_time names block {block}; the blocks are 1 to 3"):
            row_spec("dcn-ode", integration_time={block: 1.0})
    with pytest.raises(InputError, match=r"use with_overrides"):
        NetworkSpec(row="mine", integration_time={1: 2.0})


def test_number_of_blocks_follows_the_widths():
    net = build("dcn-ode", widths=(8, 16), norm_groups=4)
    assert net.spec.integration_time == (2.0, 2.0)
    assert (len(net.blocks), len(net.transitions)) == (2, 1)
    with pytest.raises(InputError, match=r"block is 3; dcn-ode has blocks 1 to 2"):
        net.block(3)


def test_norms_have_as_many_groups_as_asked_for():
    assert [row_spec("dcn-ode").groups(c) for c in (16, 32, 128)] == [16, 32, 32]
    assert [row_spec("dcn-full").groups(c) for c in (16, 32, 128)] == [16, 32, 128]


@given(
    row=st.sampled_from(ROWS),
    widths=st.lists(st.integers(1, 8).map(lambda n: 8 * n), min_size=1, max_size=5),
    time=st.floats(0, 10),
    window=st.floats(0.5, 16),
    order=st.integers(0, 20),
)
def test_specs_survive_json(row, widths, time, window, order):
    spec = row_spec(row, norm_groups=8, widths=widths, integration_time=time, window=window, kernel_order=order)
    assert NetworkSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"row": "mine", "colour": 3}, r"unknown settings colour; it may come from a newer dcnbio"),
        ({"widths": [8]}, r"has no row"),
        ({"row": "mine", "window": "wide"}, r"has window = 'wide'; it must be float"),
        ({"row": "mine", "widths": None}, r"has widths = None; it must be tuple\[int, ...\]"),
        ({"row": "mine", "widths": ["a"]}, r"has widths = \['a'\]"),
        ({"row": "mine", "integration_time": "two"}, r"has integration_time = 'two'"),
        ({"row": "mine", "integration_time": {"1": 2}}, r"has integration_time = \{'1': 2\}"),
        ({"row": "mine", "depth": ["ode"]}, r"has depth = \['ode'\]"),
        ({"row": "mine", "kernel_order": 2.5}, r"has kernel_order = 2.5; it must be int"),
        ({"row": "mine", "classes": True}, r"has classes = True"),
        ({"row": 3}, r"has row = 3; it must be str"),
        ({"row": "mine", "window": math.nan}, r"window is nan"),
    ],
)
def test_damaged_descriptions_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        NetworkSpec.from_dict(values)
