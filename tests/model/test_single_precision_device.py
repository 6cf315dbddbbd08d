"""A device without float64, as MPS is, played by the CPU: float64 raises on it, and so does mixing it with the CPU."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model import device
from dcnbio.model.integrate import Integration
from dcnbio.model.patch import Patch
from dcnbio.model.scales import initial_log2_sigma, layer_scales
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.completion.geometry import convolutions
from dcnbio.probe.contrast.record import PARTS, record_contrast
from dcnbio.probe.contrast.settings import ContrastSettings
from dcnbio.probe.filters import record_filters

PLAYED = "lazy"  # a name that torch knows, and asks no library for
ADAPTIVE = {"rtol": 1e-3, "atol": 1e-3}


class Held(Tensor):
    """A tensor of the device; its numbers lie on the CPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers: Tensor) -> Held:
        if numbers.dtype == torch.float64:
            raise TypeError("the device has no float64")
        kind = {"strides": numbers.stride(), "dtype": numbers.dtype, "device": PLAYED}
        return Tensor._make_wrapper_subclass(cls, numbers.shape, **kind)

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers

    def tolist(self) -> Any:
        return self.numbers.tolist()

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return worked_out(op, args, kwargs or {})


class Watched(TorchDispatchMode):
    """Sees what puts tensors of the CPU, or new ones, onto the device."""

    def __torch_dispatch__(self, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return worked_out(op, args, kwargs or {})


def worked_out(op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Do an operation on the CPU; what it makes lies where the device would have it."""
    tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
    held = [isinstance(one, Held) for one in tensors]
    asked = kwargs.get("device")
    crossing = op.overloadpacket.__name__ in ("_to_copy", "copy_", "index", "index_put", "index_put_")
    if any(held) and not crossing and any(one.ndim and not ours for one, ours in zip(tensors, held, strict=True)):
        raise RuntimeError(f"{op} of tensors on two devices")
    here = kwargs if asked is None else {**kwargs, "device": torch.device("cpu")}
    found = op(*tree_map(numbers_of, args), **tree_map(numbers_of, here))
    if op._schema.is_mutable:
        return args[0] if isinstance(found, Tensor) else found
    there = any(held) if asked is None else torch.device(asked).type == PLAYED
    return tree_map(lambda one: Held(one) if isinstance(one, Tensor) else one, found) if there else found


def numbers_of(value: Any) -> Any:
    return value.numbers if isinstance(value, Held) else value


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Have the device: its name."""
    monkeypatch.setattr(device, "WITHOUT_DOUBLE", (PLAYED,))
    monkeypatch.setattr("dcnbio.probe.settings.check_device", lambda name, dtype: None)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind: False)  # torch knows no autocast of its own there
    monkeypatch.setattr(torch, "autocast", lambda kind, enabled: contextlib.nullcontext())
    lifted = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        with Watched():
            yield PLAYED
    finally:
        torch._C._set_only_lift_cpu_tensors(lifted)


def small(row: str) -> Any:
    return dcnbio.build(row, widths=(8,), norm_groups=4, **({} if row.startswith("res") else {"integration_time": 0.2}))


def pictures() -> Tensor:
    return torch.from_numpy(np.random.default_rng(3).random((2, 3, 32, 32), dtype=np.float32))


def test_float64_and_two_devices_raise_there(played: str) -> None:
    there = pictures().to(played)
    assert (there + 1).device.type == played
    assert there.cpu().double().dtype == torch.float64
    with pytest.raises(TypeError, match="no float64"):
        there.double()
    with pytest.raises(TypeError, match="no float64"):
        there.sum(dtype=torch.float64)
    with pytest.raises(RuntimeError, match="two devices"):
        there + torch.zeros(2, 3, 32, 32)


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t", "dcn-sigma-ji", "ode-net", "resnet-srf-blocks"])
@pytest.mark.parametrize("stepping", ["shared", "per-image"])
def test_networks_run_as_on_the_cpu(row: str, stepping: str, played: str) -> None:
    net, settings = small(row), SolverSettings(stepping=stepping, **ADAPTIVE)
    with torch.no_grad():
        here = net.run(pictures(), settings, 4)
        there = copy.deepcopy(net).to(played).run(pictures().to(played), settings, 4)
    assert there.logits.device.type == played
    torch.testing.assert_close(there.logits.cpu(), here.logits, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(there.blocks[0].path.cpu(), here.blocks[0].path, rtol=1e-4, atol=1e-4)
    assert there.blocks[0].work.nfe.tolist() == here.blocks[0].work.nfe.tolist()


@pytest.mark.parametrize(
    "settings",
    [
        SolverSettings(),
        SolverSettings(method="rk4", step_size=0.1),
        SolverSettings(method="bosh3"),
        SolverSettings(gradient="adjoint", rtol=1e-5, atol=1e-5),
    ],
    ids=["dopri5", "rk4", "bosh3", "adjoint"],
)
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar")
def test_gradients_are_those_of_the_cpu(settings: SolverSettings, played: str) -> None:
    net = small("dcn-ode")
    copied = copy.deepcopy(net).to(played)
    net.run(pictures(), settings).logits.square().sum().backward()
    copied.run(pictures().to(played), settings).logits.square().sum().backward()
    pairs = [(a.grad, b.grad.cpu()) for a, b in zip(net.parameters(), copied.parameters(), strict=True)]
    apart = sum((a - b).square().sum() for a, b in pairs) / sum(a.square().sum() for a, _ in pairs)
    assert float(apart) ** 0.5 < 1e-3


def test_a_method_that_works_in_float64_is_refused(played: str) -> None:
    net = small("dcn-ode").to(played)
    with pytest.raises(InputError, match=r"method is explicit_adams, .* and lazy does not have that; use dopri5"):
        net.run(pictures().to(played), SolverSettings(method="explicit_adams", step_size=0.1))


def test_probe_records_what_the_cpu_records(played: str) -> None:
    settings = {"times": 3, "stepping": "per-image", "error_sample": 0}
    trees = [dcnbio.probe(small("dcn-ode"), pictures().numpy(), device=name, **settings) for name in ("cpu", played)]
    here, there = (tree["block1"] for tree in trees)
    np.testing.assert_allclose(there["h"], here["h"], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(there["nfe"], here["nfe"])


def of_two_contrasts() -> Tensor:
    """Give images of which the first has so little contrast that its steps are other ones."""
    shown = torch.rand(4, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    shown[0] *= 0.01
    return shown


@pytest.mark.parametrize(
    ("row", "gradient"), [("dcn-ode", "exact"), ("dcn-ode", "straight"), ("dcn-sigma-t", "exact"), ("ode-net", "exact")]
)
def test_images_rejected_beside_accepted_ones(row: str, gradient: str, played: str, monkeypatch: Any) -> None:
    mixed: list[bool] = []
    accept = Integration.accept

    def seen(self: Integration, good: Tensor, *rest: Any) -> None:
        mixed.append(not bool(good.all()))
        accept(self, good, *rest)

    monkeypatch.setattr(Integration, "accept", seen)
    net = dcnbio.build(row, widths=(4,), norm_groups=4, seed=1, integration_time=0.05)
    settings = SolverSettings(stepping="per-image", rtol=1e-5, atol=1e-5, gradient=gradient)
    shown, there = of_two_contrasts(), copy.deepcopy(net).to(played)
    here = net.run(shown, settings, 4)
    assert any(mixed)
    found = there.run(shown.to(played), settings, 4)
    torch.testing.assert_close(found.logits.cpu(), here.logits, rtol=1e-3, atol=1e-4)
    here.logits.square().sum().backward()
    found.logits.square().sum().backward()
    pairs = [(a.grad, b.grad.cpu()) for a, b in zip(net.parameters(), there.parameters(), strict=True)]
    assert sum(float((a - b).norm()) for a, b in pairs) < 1e-2 * sum(float(a.norm()) for a, _ in pairs)


def test_patches_limits_and_accepted_steps_are_those_of_the_cpu(played: str) -> None:
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, seed=1, integration_time=0.1)
    few = SolverSettings(stepping="per-image", rtol=1e-5, atol=1e-5, max_steps=4)
    here, there = (one.run(of_two_contrasts().to(next(one.parameters()).device), few, "accepted") for one in both(net))
    assert here.blocks[0].work.status.tolist() == there.blocks[0].work.status.tolist()
    assert len(set(here.blocks[0].work.status.tolist())) == 2
    patches = [
        Patch(1, 0.05, "set", np.zeros(2), channels=[0, 2]),
        Patch(1, 0.07, "scale", 0.5, region=(slice(0, 3), slice(0, 3))),
        Patch(2, 0.1, "ablate", channels=[1]),
        Patch(1, 0.0, "replace", np.zeros((4, 10, 10), np.float32), channels=[3]),
    ]
    whole = SolverSettings(stepping="per-image", rtol=1e-5, atol=1e-5)
    here, there = (
        one.run(of_two_contrasts().to(next(one.parameters()).device), whole, 4, patches) for one in both(net)
    )
    torch.testing.assert_close(there.logits.detach().cpu(), here.logits.detach(), rtol=1e-3, atol=1e-4)


def both(net: Any) -> tuple[Any, Any]:
    """Give the network here, and a copy on the device."""
    return net, copy.deepcopy(net).to(PLAYED)


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-ji", "dcn-sigma-t", "dcn-sigma-alpha-t", "dcn-full"])
def test_scales_and_filters_are_read_there(row: str, played: str) -> None:
    here, there = both(dcnbio.build(row, widths=(4, 4), norm_groups=4, seed=1))
    for ours, theirs in zip(layer_scales(here, 0.5), layer_scales(there, 0.5), strict=True):
        assert theirs.kernel_size == ours.kernel_size
        torch.testing.assert_close(theirs.sigma.cpu().double(), ours.sigma)
        torch.testing.assert_close(theirs.effective.cpu().double(), ours.effective)
    assert initial_log2_sigma(there) == initial_log2_sigma(here)
    assert convolutions(there) == convolutions(here)
    assert record_filters(there).equals(record_filters(here))


def test_contrast_is_recorded_there(played: str) -> None:
    small_one = {"attributed": (0.1,), "whole": (0.1,), "looser": (1,), "surface": (1,)}
    settings = ContrastSettings(contrasts=(0.1,), few=1, **small_one)
    parts = [part for part in PARTS if part != "law"]  # which is one of float64
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=2, seed=1, integration_time=0.2)
    trees = [record_contrast(one, dcnbio.load_images(limit=2), settings, parts=parts) for one in both(net)]
    np.testing.assert_array_equal(trees[1]["response"]["nfe"], trees[0]["response"]["nfe"])
    np.testing.assert_array_equal(trees[1]["surface"]["answer"], trees[0]["surface"]["answer"])
