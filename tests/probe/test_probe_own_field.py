"""A recording of one vector field is not gone on with by another, whatever it is that differs."""

import functools
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import dcnbio
from dcnbio.errors import DcnbioError, InputError
from dcnbio.probe import ProbeSettings
from dcnbio.probe.plan import numbers
from dcnbio.probe.stimuli import as_stimuli
from dcnbio.recording import fingerprint

RATE = -0.3


def scaled(h, rate=1.0):
    return rate * h


class Field(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.full((channels, 1, 1), RATE))
        self.register_buffer("mask", torch.ones(3), persistent=False)
        self.gain, self.act, self.names = 1.0, torch.tanh, ["a", "b"]
        self.inner = nn.Conv2d(channels, channels, 3, padding=1)
        for value in self.inner.parameters():
            nn.init.zeros_(value)

    def forward(self, t, h):
        return sum([scaled(part) for part in [self.act(self.weight * h) * self.gain]])


def identity(field, images):
    net = dcnbio.build("dcn-ode", widths=(4, 8), norm_groups=4, integration_time=0.2, vector_field=field)
    return fingerprint(numbers(net, as_stimuli(images), ProbeSettings(times=2)))


def changed(**values):
    def make(channels):
        field = Field(channels)
        for name, value in values.items():
            setattr(field, name, value)
        return field

    return make


def test_equal_fields_are_one(pictures):
    assert identity(Field, pictures) == identity(Field, pictures) == identity(changed(gain=1.0), pictures)


@pytest.mark.parametrize(
    "values",
    [
        {"gain": 2.0},
        {"act": torch.sin},
        {"act": lambda h: 2 * h},
        {"act": functools.partial(scaled, rate=2.0)},
        {"names": ["a", "c"]},
        {"mask": torch.zeros(3)},
        {"more": np.arange(3)},
        {"more": (slice(2), {"a": {1}}, None, torch.float64, Path("a"))},
    ],
    ids=str,
)
def test_a_field_with_another_value_is_another(pictures, values):
    assert identity(changed(**values), pictures) != identity(Field, pictures)


def test_a_field_whose_code_depends_on_what_is_around_it_is_another(pictures, monkeypatch):
    found = {identity(Field, pictures)}

    def closed(power):
        class Closed(Field):
            def forward(self, t, h):
                return super().forward(t, h) ** power

        Closed.__qualname__ = "Field"
        return Closed

    found |= {identity(closed(1), pictures), identity(closed(2), pictures)}
    monkeypatch.setattr(Field.__init__, "__defaults__", (3,))
    found.add(identity(Field, pictures))
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "scaled", lambda h: 3 * h)
    found.add(identity(Field, pictures))
    assert len(found) == 5


def test_a_recording_is_not_gone_on_with_by_a_field_of_the_same_name_and_weights(pictures, tmp_path):
    options = {"times": 2, "out": tmp_path / "run.zarr", "batch_size": 3}
    shapes = {"widths": (4, 8), "norm_groups": 4, "integration_time": 0.2}
    net = dcnbio.build("dcn-ode", vector_field=Field, **shapes)
    dcnbio.probe(net, pictures, shard="1/2", **options)
    other = dcnbio.build("dcn-ode", vector_field=changed(gain=2.0), **shapes)
    with pytest.raises(
        DcnbioError, match=r"cannot be resumed: vector_field\.attributes\.block1\.gain was .1\.0. and is now .2\.0.; "
    ):
        dcnbio.probe(other, pictures, resume=True, **options)
    assert dcnbio.probe(net, pictures, resume=True, **options).attrs["complete"]


def test_a_field_without_source_is_recorded_and_not_gone_on_with(pictures, tmp_path):
    made = {"nn": nn, "__name__": "nowhere"}
    exec("class F(nn.Module):\n    def forward(self, t, h):\n        return -h", made)
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.2, vector_field=made["F"]())
    options = {"times": 2, "out": tmp_path / "run.zarr"}
    tree = dcnbio.probe(net, pictures, resume=True, **options)  # nothing is there yet
    assert "F.forward" in json.loads(tree.attrs["provenance"])["vector_field"]["unread"]
    for more in ({"resume": True}, {"shard": "1/1"}):
        with pytest.raises(InputError, match=r"the source of F\.forward cannot be read \(.*\); define"):
            dcnbio.probe(net, pictures, **more, **options)


def test_a_network_of_the_papers_rows_says_nothing_of_fields(small_net, pictures):
    assert "vector_field" not in numbers(small_net, as_stimuli(pictures), ProbeSettings())


def test_the_same_script_tells_the_same_in_every_process(tmp_path):
    here = Path(__file__)
    script = f"""
import sys; sys.path.insert(0, {str(here.parent)!r})
import {here.stem} as own, numpy as np
print(own.identity(own.Field, np.zeros((1, 3, 32, 32), "float32")))
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    spec = importlib.util.spec_from_file_location(here.stem, here)
    here_too = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(here_too)
    assert said == identity(here_too.Field, np.zeros((1, 3, 32, 32), "float32")) + "\n"
