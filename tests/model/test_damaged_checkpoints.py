"""Checkpoints of every form and with any damage: read, or refused in one kind of error; no code of theirs runs."""

import argparse
import contextlib
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dcnbio
from dcnbio.errors import DcnbioError
from dcnbio.model.network import Network

REFERENCE = Path(__file__).parents[1] / "reference" / "dcn_ode.pth"
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FUZZ = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a small checkpoint."""
    path = tmp_path_factory.mktemp("net") / "net.safetensors"
    dcnbio.save(dcnbio.build("dcn-ode", widths=(8,), norm_groups=4), path)
    return path.read_bytes()


def read_or_refused(path, content):
    """Load what may be damaged: a network, or an error of ours."""
    path.write_bytes(content)
    with contextlib.suppress(DcnbioError):
        net = dcnbio.load(path, **({} if path.suffix == ".safetensors" else {"model": "dcn-ode"}))
        assert isinstance(net, Network)


def damaged(whole, data):
    """Flip bytes, mostly of the header, and cut the end off."""
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 4))):
        end = data.draw(st.sampled_from([9, 400, len(content)]))
        content[data.draw(st.integers(0, min(end, len(content)) - 1))] = data.draw(st.integers(0, 255))
    return bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])


def with_header(whole, change):
    """Change dcnbio's own part of a header."""
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    values = json.loads(header["__metadata__"]["header"])
    header["__metadata__"]["header"] = json.dumps(change(values))
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + whole[8 + length :]


@given(data=st.data())
@settings(max_examples=50, **FUZZ)
def test_damaged_bytes_are_refused(whole, tmp_path, data):
    read_or_refused(tmp_path / "a.safetensors", damaged(whole, data))


@given(data=st.data(), odd=ODD)
@settings(max_examples=50, **FUZZ)
def test_odd_headers_are_refused(whole, tmp_path, data, odd):
    def change(values):
        field = data.draw(st.sampled_from([*sorted(values["spec"]), "nothing"]))
        return odd if field == "nothing" else {**values, "spec": {**values["spec"], field: odd}}

    read_or_refused(tmp_path / "a.safetensors", with_header(whole, change))


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=3000, **FUZZ)
def test_thousands_of_damaged_files_are_refused(whole, tmp_path, data):
    if data.draw(st.booleans()):
        read_or_refused(tmp_path / "a.safetensors", damaged(whole, data))
    else:
        read_or_refused(tmp_path / "a.pth", damaged(REFERENCE.read_bytes(), data))


def logits(net):
    """Run a network on one picture."""
    return net(torch.full((1, 3, 32, 32), 0.5))


@pytest.mark.parametrize("spelling", ["numpy.core.multiarray", "numpy._core.multiarray"])
def test_saved_accuracies_and_prefixes_are_no_obstacle(tmp_path, spelling):
    content = torch.load(REFERENCE, weights_only=False)
    state = content.get("state_dict", content)
    prefixed = {f"module.{name}": value for name, value in state.items()}
    path = tmp_path / "a.pth"
    saved = {"state_dict": prefixed, "args": argparse.Namespace(tol=1e-3), "best": np.float64(0.9)}
    torch.save(saved, path, _use_new_zipfile_serialization=False)
    here = b"numpy._core.multiarray" if b"numpy._core.multiarray" in path.read_bytes() else b"numpy.core.multiarray"
    path.write_bytes(path.read_bytes().replace(here + b"\nscalar", spelling.encode() + b"\nscalar"))
    assert (spelling + "\nscalar").encode() in path.read_bytes()
    torch.testing.assert_close(logits(dcnbio.load(path, "dcn-ode")), logits(dcnbio.load(REFERENCE, "dcn-ode")))


class Malicious:
    """Writes a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.write_text, (self.target, "run")


@pytest.mark.parametrize("form", ["torch", "pickle", "legacy"])
def test_code_in_a_file_does_not_run(tmp_path, form):
    path, trace = tmp_path / "a.pth", tmp_path / "trace"
    content = {"state_dict": {"weight": torch.zeros(1)}, "args": Malicious(trace)}
    if form == "pickle":
        path.write_bytes(pickle.dumps(content["args"]))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=form == "torch")
    with pytest.raises(DcnbioError, match="not a readable checkpoint"):
        dcnbio.load(path, "dcn-ode")
    assert not trace.exists()


def refused(path, *given):
    """Give the one sentence with which a file is refused."""
    with pytest.raises(DcnbioError) as caught:
        dcnbio.load(path, *given)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"<html>404</html>", "web page"),
        (b"", "it is empty"),
    ],
)
def test_what_lies_in_a_files_place_is_named(tmp_path, suffix, content, named):
    (tmp_path / f"net{suffix}").write_bytes(content)
    assert named in refused(tmp_path / f"net{suffix}", "dcn-ode")


def public(tmp_path, change):
    """Write a public checkpoint with changed weights."""
    state = change(dict(torch.load(REFERENCE, weights_only=False)["state_dict"]))
    torch.save({"state_dict": state, "args": argparse.Namespace(tol=1e-3)}, tmp_path / "a.pth")
    return tmp_path / "a.pth"


@pytest.mark.parametrize("given", [(), ("dcn-ode",), ("dcn-full",)])
def test_weights_that_fit_no_row_are_told_how_they_differ_from_the_nearest(tmp_path, given):
    lost = "1.odefunc.conv2._layer.alphas"

    def change(state):
        return {name: value for name, value in state.items() if name != lost} | {"ema": torch.zeros(1)}

    said = refused(public(tmp_path, change), *given)
    assert f"(missing {lost}, unexpected ema)" in said
    assert "nearest of the named rows is dcn-ode" in said or given == ("dcn-ode",)
    assert "choose model" not in said
    assert "give model" not in said
    assert "public code" in said


def test_weights_of_another_row_are_told_which(tmp_path):
    said = refused(public(tmp_path, dict), "ode-net")
    assert "it fits dcn-ode, so choose model (--model) accordingly" in said


def test_weights_of_another_kind_of_network_are_not_called_near_to_any(tmp_path):
    other = public(tmp_path, lambda state: {"fc.weight": torch.zeros(1)})
    for said in (refused(other), refused(other, "ode-net")):
        assert "no named row has one of its names, of which fc.weight is the first" in said
        assert "nearest" not in said


def test_an_empty_folder_is_told_what_was_looked_for(tmp_path):
    assert "without a checkpoint (.safetensors, .pth, .pt)" in refused(tmp_path)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_remembered_wherever_the_weights_go(tmp_path, kind):
    path = public(tmp_path, lambda state: {name: value.to(kind) for name, value in state.items()})
    net = dcnbio.load(path, "dcn-ode")
    assert next(net.parameters()).dtype == torch.float32
    assert net.source["stored_dtype"] == str(kind).removeprefix("torch.")
    dcnbio.save(net, tmp_path / "again.safetensors")
    assert dcnbio.load(tmp_path / "again.safetensors").source["stored_dtype"] == net.source["stored_dtype"]
    dcnbio.save(net.to(kind), tmp_path / "half.safetensors")
    assert dcnbio.load(tmp_path / "half.safetensors").source["stored_dtype"] == net.source["stored_dtype"]
    assert "stored_dtype" not in dcnbio.load("dcn-ode").source


def test_what_was_assumed_stays_in_the_file(tmp_path):
    dcnbio.save(dcnbio.load(REFERENCE, "dcn-ode"), tmp_path / "a.safetensors")
    assert dcnbio.load(tmp_path / "a.safetensors").source["assumed"] == ["integration_time", "window"]
    assert dcnbio.load(REFERENCE, "dcn-ode", integration_time=1).source["assumed"] == ["window"]
