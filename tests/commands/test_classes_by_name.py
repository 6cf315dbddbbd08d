"""Test images find their labels by the names of their classes, not by the order in which these are sorted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dcnbio.commands.app import run
from dcnbio.errors import InputError
from dcnbio.images import CIFAR10_CLASSES
from dcnbio.model.checkpoint import read_header, save_checkpoint
from dcnbio.model.loading import find_checkpoint
from dcnbio.model.network import build
from dcnbio.training.images import read_training_images

COLOURS = {"ant": (200, 30, 30), "bee": (30, 200, 30), "cow": (30, 30, 200), "dodo": (120, 120, 120)}


def write(folder: str, *classes: str, n: int = 4) -> str:
    """Make a folder of classes of images of one colour each."""
    random = np.random.default_rng(len(classes))
    for name in classes:
        Path(folder, name).mkdir(parents=True)
        for i in range(n):
            noise = random.integers(-20, 20, (32, 32, 3))
            pixels = np.clip(np.array(COLOURS.get(name, (90, 90, 90))) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(Path(folder, name, f"{i}.png"))
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_class_without_test_images_shifts_no_other():
    found = read_training_images(write("a/train", "ant", "bee", "cow"), write("a/test", "ant", "cow"))
    assert found.classes == ("ant", "bee", "cow")
    assert np.unique(found.train.labels).tolist() == [0, 1, 2]
    assert np.unique(found.test.labels).tolist() == [0, 2]
    # and within one tree of train and test
    assert np.unique(read_training_images("a").test.labels).tolist() == [0, 2]


def test_names_that_an_npz_has_count_too():
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    np.savez("train.npz", images=images, labels=[0, 1, 2, 2], class_names=["cow", "ant", "bee"])
    np.savez("test.npz", images=255 - images[:2], labels=[0, 1], class_names=["cow", "bee"])
    found = read_training_images("train.npz")
    assert found.classes == ("ant", "bee", "cow")
    assert found.train.labels.tolist() == [2, 0, 1, 1]
    assert found.test.labels.tolist() == [2, 1]


@pytest.mark.parametrize("test", [("ant", "dodo"), ("dodo",)])
def test_a_test_class_that_is_not_trained_is_refused(capfd, test):
    write("train", "ant", "bee", "cow")
    write("test", *test)
    with pytest.raises(InputError, match=r"are of dodo \(1 in all\), of which there is no training image"):
        read_training_images("train", "test")
    assert run(["train", "--images", "train", "--test-images", "test", "--out", "run"]) == 2
    assert "are of dodo" in capfd.readouterr().err
    assert not Path("run").exists()


def test_a_class_of_cifar10_that_is_not_trained_is_refused_though_it_has_a_label():
    with pytest.raises(InputError, match=r"are of bird \(1 in all\).*trained are cat, dog"):
        read_training_images(write("train", "cat", "dog"), write("test", "bird", "cat"))


@pytest.fixture
def trained(capfd) -> str:
    """A network of three classes and one output to spare, trained for a step."""
    settings = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", "network.classes=4"]
    more = ["epochs=1", "batch_size=4", 'phases=[{method="euler", steps=1, gradient="exact"}]']
    given = [part for setting in (*settings, *more) for part in ("--set", setting)]
    assert run(["train", "--images", write("train", "ant", "bee", "cow"), "--out", "run", *given]) == 0
    capfd.readouterr()
    return "run/checkpoint.safetensors"


def evaluated(capfd, images: str, checkpoint: str) -> dict:
    assert run(["evaluate", "--checkpoint", checkpoint, "--images", images, "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def test_a_network_is_evaluated_by_the_names_that_its_checkpoint_tells(trained, capfd):
    assert read_header(Path(trained)).source["classes"] == ["ant", "bee", "cow"]
    whole = evaluated(capfd, "train", trained)
    assert list(whole["per_class"]) == ["ant", "bee", "cow", "(output 3, never trained)"]
    some = evaluated(capfd, write("some", "ant", "cow"), trained)
    assert [sum(row) for row in some["confusion"]] == [4, 0, 4, 0]
    assert some["per_class"]["bee"] is None
    for name in ("ant", "cow"):
        assert some["per_class"][name] == whole["per_class"][name]


def test_renamed_classes_are_refused(trained, capfd):
    Path("train/ant").rename("train/zebu")
    assert run(["evaluate", "--checkpoint", trained, "--images", "train"]) == 2
    said = capfd.readouterr().err
    assert "are of zebu (1 in all), which the network was not trained on; its classes are ant, bee, cow" in said


def test_a_recording_has_an_accuracy_by_name_or_none(trained, capfd):
    probe = ["probe", "--checkpoint", trained, "--times", "2", "--json", "--images"]
    assert run([*probe, write("some", "ant", "cow"), "--out", "some.zarr"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["accuracy"] == evaluated(capfd, "some", trained)["accuracy"]
    assert run([*probe, write("other", "ant", "dodo"), "--out", "other.zarr"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["accuracy"] is None
    assert "the network was not trained on dodo (1 in all), so there is no accuracy" in found["notices"]


def test_info_tells_the_classes(trained, capfd):
    assert run(["info", trained]) == 0
    assert "classes    ant, bee, cow\n" in capfd.readouterr().out


def test_networks_whose_checkpoint_tells_no_classes_take_cifar10_in_its_order(capfd):
    assert "classes" not in read_header(find_checkpoint("dcn-ode")).source
    save_checkpoint(build("dcn-ode", 0, widths=(4,), norm_groups=4, integration_time=0.1), "net.safetensors")
    assert run(["evaluate", "--checkpoint", "net.safetensors", "--limit", "10", "--json"]) == 0
    assert list(json.loads(capfd.readouterr().out)["per_class"]) == list(CIFAR10_CLASSES)
