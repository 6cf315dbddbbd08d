"""How fast dcnbio is, as a ratio: the paper's cost structure and ours, alternating in one run on one machine.

    python analyses/speed.py              64 images: dcn-ode at four scales, ode-net, dcn-sigma-ji, dcn-sigma-t
    python analyses/speed.py --quick      8 images, dcn-ode alone, about a minute
    python analyses/speed.py --gradient adjoint      ours too with the adjoint, as the paper's code trains
    python analyses/speed.py --probe      recordings to disk, beside the forward pass alone and beside the disk
    python analyses/speed.py --precision  training steps with convolutions in bfloat16, beside the same in float32

Columns: median seconds of one call; function evaluations of the three blocks, forward; plain / ours; the most memory a
call held beyond what was held before it; share of the time spent in convolution (plain) or in filters and mixing
(ours). Absolute times move with the machine and with what else it does: quote ratios, and only of an idle machine.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from plain_network import PlainNetwork
from precision_speed import measure_precision, show_precision
from probe_speed import measure_probe, results, shares, show_probe
from script import end_in_words, refuse_existing
from torch import Tensor, nn
from torch.autograd.profiler import profile

import dcnbio
from dcnbio.images import CIFAR10_CLASSES, read_images
from dcnbio.images.selection import Selection
from dcnbio.model.engine import available, work_seconds
from dcnbio.model.network import Network, build
from dcnbio.model.srf_conv import SRFConv2d

SIGMAS = (0.65, 1.0, 2.0, 3.0)
OTHERS = ("ode-net", "dcn-sigma-ji", "dcn-sigma-t")


@dataclass
class Row:
    """One measured variant."""

    row: str
    sigma: float | None
    variant: str
    images: int
    seconds: float
    nfe: list[int]
    peak_mb: float
    share: float


def with_sigma(row: str, sigma: float | None) -> Network:
    """Build an untrained network, every scale set to one value."""
    net = build(row, seed=0)
    if sigma is not None:
        for module in net.modules():
            if isinstance(module, SRFConv2d):
                nn.init.constant_(module.log2_sigma.offset, float(torch.log2(torch.tensor(sigma))))
    return net


def resident(field: str) -> float:
    """Read this process's memory in MB: VmRSS, or VmHWM for the most since the last reset; NaN where unknown."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def timed(call: Callable[[], Any], device: torch.device) -> float:
    """Time one call."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def measured(call: Callable[[], Any], device: torch.device) -> tuple[float, float]:
    """Time one call, and give the most memory in MB that it held beyond what was held before."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        seconds = timed(call, device)
        return seconds, (torch.cuda.max_memory_allocated() - before) / 2**20
    if platform.system() != "Linux":
        return timed(call, device), float("nan")
    ctypes.CDLL(None).malloc_trim(0)
    before_mb = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    seconds = timed(call, device)
    return seconds, resident("VmHWM") - before_mb


def share_of_convolution(call: Callable[[], Any], plain: bool, seconds: float) -> float:
    """Give the fraction of a call spent in convolutions (plain), or in filters and mixing (ours)."""
    if not plain:
        work_seconds(reset=True)
        call()
        work = work_seconds(reset=True)
        return (work["filters"] + work["mixing"]) / (torch.get_num_threads() * seconds)
    with profile(use_kineto=False) as watched:
        call()
    events = watched.key_averages()
    convolution = sum(e.self_cpu_time_total for e in events if "convolution" in e.key or "conv2d" in e.key)
    return float(convolution / sum(e.self_cpu_time_total for e in events))


def caller(net: Network | PlainNetwork, images: Tensor, labels: Tensor, training: bool) -> Callable[[], Any]:
    """Make the call that is timed: logits without gradients, or a training step short of the optimizer."""

    def step() -> None:
        net.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(images), labels).backward()

    def forward() -> None:
        with torch.no_grad():
            net(images)

    return step if training else forward


def evaluations(net: Network | PlainNetwork, images: Tensor) -> list[int]:
    """Count the forward evaluations of each block; the plain network has kept those of its last call."""
    if isinstance(net, PlainNetwork):
        return net.nfe
    with torch.no_grad():
        return [int(block.work.nfe[0]) for block in net.run(images).blocks]


def compare(
    setting: tuple[str, float | None, bool], data: tuple[Tensor, Tensor], options: argparse.Namespace
) -> list[Row]:
    """Time plain and ours in turn, and watch the memory of each call."""
    row, sigma, training = setting
    images, labels = data
    net = with_sigma(row, sigma).to(images.device)
    net.solver = replace(net.solver, gradient=options.gradient)
    variants = {"plain": PlainNetwork(net), "ours": net}
    calls = {name: caller(variant, images, labels, training) for name, variant in variants.items()}
    calls["ours"]()  # loads the engine
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(options.repeats):
        for name, call in calls.items():
            found[name].append(measured(call, images.device))
    rows = []
    for name, call in calls.items():
        seconds, peak = (statistics.median(column) for column in zip(*found[name], strict=True))
        share = float("nan") if options.quick else share_of_convolution(call, name == "plain", seconds)
        rows.append(Row(row, sigma, name, len(images), seconds, evaluations(variants[name], images), peak, share))
    return rows


def percent(share: float) -> str:
    """Write a fraction in percent, or a dash."""
    return "-" if share != share else f"{100 * share:.0f}"


def show(rows: list[Row], training: bool) -> None:
    """Print one comparison."""
    plain, ours = rows
    same = "" if plain.nfe == ours.nfe else f"  NFE DIFFERS: plain {plain.nfe}"
    print(
        f"{plain.row:<13}{'train' if training else 'forward':<9}{plain.sigma or '-':>5}"
        f"{plain.seconds:>9.2f}{ours.seconds:>9.3f}{plain.seconds / ours.seconds:>8.2f}"
        f"{plain.peak_mb:>9.0f}{ours.peak_mb:>8.0f}{percent(plain.share):>7}{percent(ours.share):>6}"
        f"  {' + '.join(map(str, ours.nfe))}{same}",
        flush=True,
    )


def load_data(count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Take shipped images."""
    found = read_images(selection=Selection(limit=count))
    if found.class_names != tuple(CIFAR10_CLASSES):
        raise SystemExit("the shipped images have other classes")
    return torch.from_numpy(found.images).to(device), torch.from_numpy(found.labels).to(device)


def machine(device: torch.device) -> dict[str, Any]:
    """Say what the figures were made on."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "engine": available().reason,
        "torch": torch.__version__,
        "dcnbio": dcnbio.__version__,
        "python": platform.python_version(),
    }


def results_json(about: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
    """Give machine and rows; what was not measured is null."""
    rows = [{k: None if v != v else v for k, v in row.items()} for row in results]
    return {"machine": about, "rows": rows}


def probing(options: argparse.Namespace, about: dict[str, Any]) -> None:
    """Measure recordings to disk, and print."""
    rows = measure_probe(options.images, options.repeats, options.folder)
    show_probe(rows)
    if options.json is not None:
        found = {"machine": about, "rows": results(rows), "shares": shares(rows)}
        options.json.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")


def in_both_types(options: argparse.Namespace, about: dict[str, Any]) -> None:
    """Measure training steps in float32 and bfloat16, and print."""
    rows = measure_precision(load_data(8 if options.quick else 64, torch.device("cpu")), options.repeats)
    show_precision(rows)
    if options.json is not None:
        options.json.write_text(json.dumps(results_json(about, [asdict(row) for row in rows]), indent=1) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 images, dcn-ode alone")
    parser.add_argument("--probe", action="store_true", help="recordings to disk: 21 times, three blocks")
    parser.add_argument("--precision", action="store_true", help="training steps in float32 and in bfloat16")
    parser.add_argument("--images", type=int, default=100, help="images of --probe (100)")
    parser.add_argument("--folder", type=Path, help="folder on the disk that --probe measures")
    parser.add_argument("--gradient", default="exact", choices=["exact", "adjoint"], help="of ours (exact)")
    parser.add_argument("--repeats", type=int, help="timed calls of each variant (3; 2 with --quick)")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--overwrite", action="store_true", help="write over --json where it is there")
    options = parser.parse_args()
    refuse_existing(options.json, options.overwrite)
    options.repeats = options.repeats or (2 if options.quick else 3)
    device = torch.device(options.device)
    if options.probe or options.precision:
        print(", ".join(f"{name} {value}" for name, value in machine(device).items()))
        (probing if options.probe else in_both_types)(options, machine(device))
        return
    data = load_data(8 if options.quick else 64, device)
    about = machine(device)
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print(f"{len(data[0])} images; seconds are medians of {options.repeats}; NFE of each block, forward")
    print(
        f"{'row':<13}{'pass':<9}{'sigma':>5}{'plain s':>9}{'ours s':>9}{'ratio':>8}{'plain MB':>9}{'ours MB':>8}"
        f"{'conv %':>7}{'':>6}  NFE"
    )
    settings: list[tuple[str, float | None, bool]] = [("dcn-ode", s, t) for t in (False, True) for s in SIGMAS]
    if not options.quick:
        settings += [(row, None, training) for row in OTHERS for training in (False, True)]
    results = []
    for setting in settings:
        rows = compare(setting, data, options)
        show(rows, setting[2])
        results += [{"pass": "train" if setting[2] else "forward", **asdict(row)} for row in rows]
    if options.json is not None:
        options.json.write_text(json.dumps(results_json(about, results), indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    end_in_words(main)
