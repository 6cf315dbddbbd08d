"""What is no network is refused in words by everything that takes one; a compiled network is one."""

import numpy as np
import pytest
import torch
from torch import nn

import dcnbio
from dcnbio.errors import DcnbioError, InputError
from dcnbio.model.decoder import build_decoder
from dcnbio.probe.completion import completion_experiment
from dcnbio.probe.contrast import record_contrast
from dcnbio.probe.solver_check import check_solver

PICTURES = np.zeros((1, 3, 32, 32), np.float32)
VERBS = {
    "probe": lambda net: dcnbio.probe(net, PICTURES),
    "evaluate": lambda net: dcnbio.evaluate(net, PICTURES),
    "completion_experiment": lambda net: completion_experiment(net, PICTURES),
    "record_contrast": lambda net: record_contrast(net, PICTURES),
    "check_solver": lambda net: check_solver(net, PICTURES),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("dcn-ode", r"net is 'dcn-ode', a name; give the network itself, dcnbio\.load\('dcn-ode'\)"),
        (None, r"net is a NoneType, and not one of dcnbio's networks; give one from dcnbio\.load or dcnbio\.build\.$"),
        (nn.Conv2d(3, 3, 3), r"net is a Conv2d.*a field of your own goes into a network with dcnbio\.build"),
    ],
    ids=["name", "nothing", "module"],
)
def test_what_is_no_network_is_refused_in_words(verb, given, said):
    with pytest.raises(InputError, match=said):
        VERBS[verb](given)


def test_a_decoder_is_no_network():
    net = dcnbio.build("dcn-ode", widths=(4, 8, 16), norm_groups=4)
    with pytest.raises(InputError, match="net is a Decoder, and not one of dcnbio's networks"):
        dcnbio.probe(build_decoder(net.spec), PICTURES)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_compiled_network_is_recorded_as_it_is():
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.2)
    tree = dcnbio.probe(torch.compile(net, backend="eager"), PICTURES, times=2)
    np.testing.assert_array_equal(
        tree["block1"]["h"].values, dcnbio.probe(net, PICTURES, times=2)["block1"]["h"].values
    )


@pytest.mark.parametrize("name", ["run.h5", "run.csv", "run.TXT", "run.pth"])
def test_a_recording_takes_no_name_of_another_kind_of_file(name, tmp_path):
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.2)
    with pytest.raises(DcnbioError, match=rf"{name}; a recording is a \.zarr store or a \.nc file"):
        dcnbio.probe(net, PICTURES, times=2, out=tmp_path / name)
    assert not list(tmp_path.iterdir())
