"""Recordings that are not what they are taken for: labels of other classes, other images, other settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.completion import completion_of_recordings
from dcnbio.analysis.contrast import analyze_contrast, contrast_of_recordings
from dcnbio.analysis.contrast.analysis import PARTS
from dcnbio.errors import InputError
from dcnbio.recording import Batch, BlockBatch, BlockLayout, RecordingLayout, assemble
from dcnbio.recording.network_labels import network_labels, of_other_classes

N = 6
NUMBERS = ["output 0", "output 1", "output 2"]


def recorded(contrast: float = 1.0, mask: int | None = None, **changes: Any) -> xr.DataTree:
    """A recording of a network of three classes that answers 0, 1, 2, 0, 1, 2."""
    labels = changes.pop("labels", [0, 1, 2, 0, 2, 1])  # four of six answers are right
    names = changes.pop("class_names", ["cat", "dog", "frog"])
    stimulus = changes.pop("stimulus", range(N))
    block = BlockLayout(changes.pop("block", "block1"), [0.0, 1.0], (2, 3, 3))
    layout = RecordingLayout(list(stimulus), labels, [""] * N, names, [block], N)
    maps = np.random.default_rng(int(10 * contrast) + (mask or 0)).normal(size=(N, 2, 2, 3, 3)).astype(np.float32)
    work = BlockBatch(maps, [20] * N, [3] * N, [0] * N, [0] * N, [[0.3, 0.6, 1.0]] * N)
    about = {
        "weights": "sha256:" + "ab" * 32,
        "spec": {"row": "dcn-ode", "integration_time": [1.0], "widths": [2], "norm_groups": 1},
        "images_id": "sha256:" + "cd" * 32,
        "contrast": contrast,
        "mask": mask,
        "fill": None if mask is None else 0,
        "dtype": "float32",
        "batch_size": N,
        "solver": {"method": "dopri5", "rtol": 1e-3, "stepping": "per-image"},
    }
    batch = Batch(0, np.eye(3, dtype=np.float32)[np.arange(N) % 3], {block.name: work})
    return assemble(layout, [batch], {**about, **changes})


def test_accuracy_is_that_of_the_networks_own_classes() -> None:
    found = contrast_of_recordings([recorded(), recorded(0.2)])
    assert [line["accuracy"] for line in found.table] == pytest.approx([4 / 6, 4 / 6])
    assert network_labels(recorded().to_dataset()).tolist() == [0, 1, 2, 0, 2, 1]


@pytest.mark.parametrize(
    "foreign",
    [
        {"class_names": NUMBERS, "labels": [0, 1, 0, 1, 0, 1]},  # faces and houses
        {"class_names": NUMBERS, "labels": [0, 1, 2, 0, 1, 2]},  # the first three of many classes
        {"class_names": NUMBERS, "labels": [0, 1, 2, 0, 1, 77]},
        {"labels": [0, 1, 2, 0, 1, 3]},
    ],
)
def test_labels_of_other_classes_give_no_accuracy(foreign: dict[str, Any]) -> None:
    trees = [recorded(1.0, **foreign), recorded(0.2, **foreign)]
    with pytest.raises(InputError, match=r"dcn-ode is of images whose classes are not the network's.*by accident"):
        contrast_of_recordings(trees)
    found = completion_of_recordings(recorded(**foreign), recorded(mask=14, **foreign))
    assert found["label"].values.tolist() == [-1] * N
    assert of_other_classes(trees[0].to_dataset())


def test_digits_are_classes_like_others() -> None:
    trees = [recorded(contrast, class_names=["0", "1", "2"]) for contrast in (1.0, 0.2)]
    assert contrast_of_recordings(trees).table[0]["accuracy"] == pytest.approx(4 / 6)


def test_images_without_labels_have_no_accuracy_and_no_other_classes() -> None:
    bare = {"labels": [-1] * N, "class_names": NUMBERS}
    with pytest.raises(InputError, match="are of images without labels; accuracy needs them"):
        contrast_of_recordings([recorded(1.0, **bare), recorded(0.2, **bare)])
    assert not of_other_classes(recorded(**bare).to_dataset())
    with pytest.raises(InputError, match="are of images without labels"):
        contrast_of_recordings([recorded(labels=[0, 1, 2, 0, 1, -1]), recorded(0.2)])


DIFFERENT: list[tuple[dict[str, Any], str]] = [
    ({"images_id": "sha256:other"}, "differ in images_id"),
    ({"stimulus": range(1, N + 1)}, "differ in which of the images are there"),
    ({"labels": [0, 1, 2, 0, 1, 2]}, "differ in the labels of the same images"),
    ({"class_names": ["cat", "frog", "dog"]}, "differ in the names of classes"),
    ({"fill": "mean"}, "differ in fill"),
    ({"interventions": [{"kind": "scale"}]}, "differ in interventions"),
    ({"dtype": "float64"}, "differ in dtype"),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENT)
def test_recordings_of_one_network_differ_in_contrast_alone(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        contrast_of_recordings([recorded(), recorded(0.2, **change)])


def test_networks_stand_in_one_table_on_the_same_images_alone() -> None:
    other = {"weights": "sha256:" + "ef" * 32}
    found = contrast_of_recordings([recorded(), recorded(0.2), recorded(**other), recorded(0.2, **other)])
    assert {line["network"] for line in found.table} == {"dcn-ode abababab", "dcn-ode efefefef"}
    elsewhere = {**other, "images_id": "sha256:other"}
    with pytest.raises(InputError, match=r"dcn-ode abababab at contrast 1 and of dcn-ode efefefef .* images_id"):
        contrast_of_recordings([recorded(), recorded(0.2), recorded(**elsewhere), recorded(0.2, **elsewhere)])


def test_shared_steps_need_the_same_batches() -> None:
    shared = {"solver": {"method": "dopri5", "rtol": 1e-3, "stepping": "shared"}}
    with pytest.raises(InputError, match="differ in batch_size"):
        contrast_of_recordings([recorded(**shared), recorded(0.2, batch_size=3, **shared)])
    with pytest.raises(InputError, match="differ in batch_size"):
        completion_of_recordings(recorded(**shared), recorded(mask=14, batch_size=3, **shared))
    assert len(contrast_of_recordings([recorded(), recorded(0.2, batch_size=3)]).table) == 2


def test_a_record_that_lacks_something_is_told_what() -> None:
    with pytest.raises(InputError, match="a recording of dcn-ode lacks block 1, whose evaluations are compared"):
        contrast_of_recordings([recorded(block="block2"), recorded(0.2, block="block2")])
    trees = [recorded(), recorded(0.2)]
    for tree in trees:
        tree.attrs["provenance"] = tree.attrs["provenance"].replace("images_id", "pictures")
    for compare in (lambda: contrast_of_recordings(trees), lambda: completion_of_recordings(*trees)):
        with pytest.raises(InputError, match="a recording lacks images_id; give one"):
            compare()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images_id": "sha256:other"}, "recordings differ in images_id"),
        ({"interventions": [{"kind": "scale"}]}, "recordings differ in interventions"),
        ({"stimulus": range(1, N + 1)}, "recordings are of other images"),
        ({"labels": [0, 1, 2, 0, 1, 2]}, "recordings have other labels of the same images"),
        ({"class_names": ["cat", "frog", "dog"]}, "recordings have other labels of the same images"),
    ],
)
def test_masked_images_are_those_of_the_intact_recording(change: dict[str, Any], message: str) -> None:
    found = completion_of_recordings(recorded(), recorded(mask=14))
    assert found["label"].values.tolist() == [0, 1, 2, 0, 2, 1]
    with pytest.raises(InputError, match=message):
        completion_of_recordings(recorded(), recorded(mask=14, **change))


@pytest.mark.parametrize("labels", [[0, 1, -1], [0, 1], None])
def test_the_contrast_experiment_needs_a_label_for_every_image(labels: list[int] | None) -> None:
    tree = xr.DataTree(xr.Dataset() if labels is None else xr.Dataset({"label": ("labelled", labels)}))
    for part in PARTS:
        tree[part] = xr.DataTree(xr.Dataset({"answer": ("stimulus", [0, 1, 2])}))
    with pytest.raises(InputError, match="the record of mine has no label of the network's classes for every image"):
        analyze_contrast({"mine": tree})
