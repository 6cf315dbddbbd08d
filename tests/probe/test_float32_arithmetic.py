"""Whatever precision a person has asked torch for, a measurement is in float32, and the settings stay the person's."""

import json
import os
import subprocess
import sys

import pytest
import torch

SETTINGS = {
    "nothing": "pass",
    "products": "torch.set_float32_matmul_precision('high')",
    "bfloat16 products": "torch.set_float32_matmul_precision('medium')",
    "older": "B.cuda.matmul.allow_tf32 = B.cudnn.allow_tf32 = True",
    "older, off": "B.cuda.matmul.allow_tf32 = B.cudnn.allow_tf32 = False",
}
NEWER = {
    "newer": "B.cuda.matmul.fp32_precision = 'tf32'",
    "newer, of convolutions": "B.cudnn.conv.fp32_precision = 'ieee'",
    "newer, of all": "B.fp32_precision = 'tf32'",
    "newer, all exact": "B.fp32_precision = 'ieee'",
}
# each setting in a process of its own: torch has no way back from a mixture of its two interfaces
SCRIPT = """
import json, os, sys
import torch
import dcnbio
from dcnbio.probe.precision import held_still
B = torch.backends
net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.1)
images = torch.rand(1, 3, 32, 32).numpy()

def read(get):
    try:
        return get()
    except RuntimeError:
        return "refuses"

def state():
    found = {"products": read(lambda: B.cuda.matmul.allow_tf32), "cudnn": read(lambda: B.cudnn.allow_tf32)}
    found["asked"] = read(torch.get_float32_matmul_precision)
    if hasattr(B.cuda.matmul, "fp32_precision"):
        for backend, name in (("cuda", "matmul"), ("cudnn", "conv"), ("mkldnn", "matmul"), ("mkldnn", "conv")):
            found[f"{backend}.{name}"] = getattr(getattr(B, backend), name).fp32_precision
    return found

for name, setting in json.loads(sys.argv[1]).items():
    if not os.fork():
        exec(setting)
        states = [state()]
        with held_still(net):
            states.append(state())
        states.append(state())
        if name == "newer, of all":  # what was inherited is inherited still
            B.fp32_precision = "ieee"
            states.append(state())
        dcnbio.probe(net, images, times=2)
        print(json.dumps([name, *states]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_setting_is_exact_inside_and_as_it_was_outside():
    newer = hasattr(torch.backends.cuda.matmul, "fp32_precision")
    settings = SETTINGS | (NEWER if newer else {})
    command = [sys.executable, "-c", SCRIPT, json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = {name: states for name, *states in map(json.loads, done.stdout.splitlines())}
    assert told.keys() == settings.keys()
    for name, (before, inside, after, *_) in told.items():
        assert after == before, name
        assert (inside["products"], inside["asked"]) == (False, "highest"), name
        assert inside["cudnn"] in (False, "refuses"), name
        assert {inside[key] for key in inside if "." in key} <= {"ieee"}, name
    if newer:
        inherited = told["newer, of all"][3]
        assert {inherited[key] for key in inherited if "." in key} == {"ieee"}
