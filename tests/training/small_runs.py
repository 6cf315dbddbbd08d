"""Runs of seconds on made images, the same in every process: their recipe, their images, and what they leave behind."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from dcnbio.training import Recipe, with_settings
from dcnbio.training.images import LabelledImages, TrainingImages

COARSE = 'phases=[{until=0.5, method="midpoint", steps=2, jitter=0.5, gradient="exact"}, {gradient="exact"}]'
SETTINGS = [
    'phases=[{gradient="exact"}]',
    "network.widths=[4, 8]",
    "network.norm_groups=4",
    "network.integration_time=0.5",
    "batch_size=16",
    "translate=1",
]


def recipe(*settings: str) -> Recipe:
    return with_settings(Recipe(), [*SETTINGS, *settings])


def long_recipe() -> Recipe:
    """Make the recipe of a run that is long enough to be interrupted: 18 steps, three of them an epoch."""
    return recipe("epochs=6", "seed=3", "held_out=8", COARSE)


def coloured(n: int, seed: int = 0, side: int = 12) -> LabelledImages:
    """Make images of four classes that differ in the colour of a noisy patch."""
    random = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    images = random.integers(0, 120, (n, 3, side, side), dtype=np.uint8)
    middle = slice(side // 4, 3 * side // 4)
    for i, label in enumerate(labels):
        images[i, label % 3, middle, middle] += 130 if label < 3 else 0
    return LabelledImages(images, labels.astype(np.int64))


def images(n: int = 64, side: int = 12) -> TrainingImages:
    train, test = coloured(n, side=side), coloured(32, seed=1, side=side)
    return TrainingImages(train, test, "made", {"train": f"a{n}", "test": "b"})


def rows(folder: Path) -> list[dict[str, str]]:
    """Read a run's metrics."""
    with open(folder / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def progress(folder: Path) -> dict[str, Any]:
    """Read how far the saved state of a run is."""
    with safe_open(folder / "state.safetensors", framework="pt") as file:
        return json.loads(file.metadata()["progress"])
