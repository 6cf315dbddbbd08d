"""How fast a recording reaches the disk: images per second, beside the forward pass alone and beside the disk."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import dcnbio
from dcnbio.images import load_images
from dcnbio.model.network import Network
from dcnbio.model.solver_settings import SolverSettings

__all__ = ["ProbeRow", "measure_probe", "shares", "show_probe"]

TIMES, BATCH = 21, 50
STEPPINGS = ("per-image", "shared")
PIECE = 16_000_000  # bytes given to the disk at once


@dataclass(frozen=True)
class ProbeRow:
    """One way of running images, or of writing what they give.

    Attributes
    ----------
    way : str
        "forward" (class scores alone), "probe" (to disk: 21 times, three blocks) or "disk" (the same bytes, plainly).
    stepping : str
        "per-image" or "shared"; empty for the disk.
    images : int
    seconds, cpu_seconds : float
        Medians of one call: by the clock, and by this process's processors.
    megabytes : float
        What the call leaves on the disk.
    """

    way: str
    stepping: str
    images: int
    seconds: float
    cpu_seconds: float
    megabytes: float

    @property
    def rate(self) -> float:
        """Images per second."""
        return self.images / self.seconds


def forward(net: Network, images: torch.Tensor, stepping: str) -> None:
    """Run images in the batches of a probe, for their class scores alone."""
    with torch.no_grad():
        for first in range(0, len(images), BATCH):
            net.run(images[first : first + BATCH], SolverSettings(stepping=stepping))


def write_plainly(path: Path, size: int) -> None:
    """Write so many bytes to one file, and wait until the disk has them."""
    piece = np.random.default_rng(0).bytes(PIECE)
    with open(path, "wb", buffering=0) as file:
        for first in range(0, size, PIECE):
            file.write(piece[: size - first])
        os.fsync(file.fileno())


def watched(call: Callable[[], Any]) -> tuple[float, float]:
    """Time a call by the clock and by the processors."""
    clock, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - cpu


def bytes_below(path: Path) -> int:
    """Count the bytes of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def removed(path: Path) -> None:
    """Make room for the next repeat."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def calls_of(net: Network, data: Any, folder: Path) -> dict[tuple[str, str], Callable[[], Any]]:
    """Make the calls that are timed, by way and stepping; the disk is given what the first recording takes."""
    images = torch.from_numpy(data["image"].values)
    size = TIMES * 4 * len(images) * sum(channel * y * x for channel, y, x in ((32, 30, 30), (64, 15, 15), (128, 7, 7)))
    calls: dict[tuple[str, str], Callable[[], Any]] = {}
    for stepping in STEPPINGS:
        options = {"times": TIMES, "batch_size": BATCH, "stepping": stepping, "out": folder / "run"}
        calls["forward", stepping] = lambda stepping=stepping: forward(net, images, stepping)
        calls["probe", stepping] = lambda options=options: dcnbio.probe(net, data, **options)
    return calls | {("disk", ""): lambda: write_plainly(folder / "run", size)}


def measure_probe(images: int, repeats: int, parent: Path | None = None) -> list[ProbeRow]:
    """Time every way in turn, again and again, on the shipped dcn-ode.

    Parameters
    ----------
    images, repeats : int
    parent : Path, optional
        Folder on the disk that is measured; that of temporary files by default.
    """
    net, data = dcnbio.load("dcn-ode"), load_images(limit=images)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    left: dict[tuple[str, str], int] = {}
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        calls = calls_of(net, data, Path(folder))
        forward(net, torch.from_numpy(data["image"].values[:2]), "per-image")  # loads the engine
        for _ in range(repeats):
            for key, call in calls.items():
                found.setdefault(key, []).append(watched(call))
                left[key] = bytes_below(Path(folder))
                removed(Path(folder, "run"))
    medians = {key: [statistics.median(column) for column in zip(*times, strict=True)] for key, times in found.items()}
    return [ProbeRow(*key, images, *medians[key], left[key] / 1e6) for key in calls]


def shares(rows: list[ProbeRow]) -> dict[str, float]:
    """Give what the goals are about, as fractions of images per second.

    The first is of the forward pass alone or of the disk, whichever is slower (goal 0.8), for either stepping; the last
    is of shared stepping's rate (goal 0.7).
    """
    rate = {(row.way, row.stepping): row.rate for row in rows}
    limit = {stepping: min(rate["forward", stepping], rate["disk", ""]) for stepping in STEPPINGS}
    return {
        **{f"probe, {stepping}": rate["probe", stepping] / limit[stepping] for stepping in STEPPINGS},
        "per-image / shared, forward": rate["forward", "per-image"] / rate["forward", "shared"],
        "per-image / shared, probe": rate["probe", "per-image"] / rate["probe", "shared"],
    }


def show_probe(rows: list[ProbeRow]) -> None:
    """Print rows and shares."""
    print(f"{'way':<9}{'steps':<11}{'images':>7}{'s':>9}{'cpu s':>9}{'images/s':>10}{'MB':>8}{'MB/s':>8}")
    for row in rows:
        flow = f"{row.megabytes / row.seconds:.0f}" if row.megabytes else "-"
        print(
            f"{row.way:<9}{row.stepping:<11}{row.images:>7}{row.seconds:>9.2f}{row.cpu_seconds:>9.2f}{row.rate:>10.1f}"
            f"{row.megabytes:>8.0f}{flow:>8}"
        )
    for name, share in shares(rows).items():
        print(f"{100 * share:>5.0f} %  {name}{' of the forward pass or the disk' if 'probe,' in name else ''}")


def results(rows: list[ProbeRow]) -> list[dict[str, Any]]:
    """Give the rows in plain values."""
    return [{**asdict(row), "rate": row.rate} for row in rows]
