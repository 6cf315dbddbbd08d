"""Images whose classes are not the network's have no accuracy: a label equals an answer by accident."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dcnbio
from dcnbio.commands.app import run
from dcnbio.errors import InputError
from dcnbio.model.network import build
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.probe.completion.mechanism import mechanism_experiment
from dcnbio.probe.contrast import ContrastSettings, record_contrast
from dcnbio.probe.solver_check import check_solver
from dcnbio.probe.stimuli import as_stimuli


@pytest.fixture(scope="module")
def net():
    return build("dcn-ode", 0, widths=(4, 8), norm_groups=4, integration_time=0.2)


@pytest.fixture
def faces_and_houses(tmp_path, monkeypatch):
    """Pictures with labels 0 and 1, in a file and as a data set: none of them is an airplane or an automobile."""
    monkeypatch.chdir(tmp_path)
    pictures = np.random.default_rng(0).random((4, 32, 32, 3)).astype(np.float32)
    np.savez("own.npz", images=pictures, labels=[0, 1, 1, 0], class_names=["face", "house"])
    return dcnbio.load_images("own.npz")


def test_labels_of_another_set_of_classes_are_none_of_the_networks(faces_and_houses):
    stimuli = as_stimuli(faces_and_houses)
    assert stimuli.labels_for(build("resnet-blocks", classes=2)).tolist() == [0, 1, 1, 0]
    assert stimuli.labels_for(build("resnet-blocks")).tolist() == [-1] * 4


def test_a_recording_keeps_the_labels_and_its_report_has_no_accuracy(net, faces_and_houses, capfd):
    dcnbio.save(net, "net.safetensors")
    options = ["--checkpoint", "net.safetensors", "--times", "2", "--out", "run.zarr", "--json"]
    assert run(["probe", "--images", "own.npz", *options]) == 0
    assert json.loads(capfd.readouterr().out)["accuracy"] is None
    assert dcnbio.open("run.zarr")["label"].values.tolist() == [0, 1, 1, 0]


def test_the_solver_check_has_no_accuracy(net, faces_and_houses):
    found = check_solver(net, faces_and_houses, (1e-2, 1e-3))
    assert np.isnan(found["accuracy"].values).all()


def test_experiments_do_not_count_them_as_right_or_wrong(net, faces_and_houses):
    settings = CompletionSettings(masks=(8,), main=8, times=3, mechanism=2)
    masked = completion_experiment(net, faces_and_houses, settings)["flow"]
    assert (masked["label"].values == -1).all()
    assert (mechanism_experiment(net, faces_and_houses, settings)["causal_label"].values == -1).all()
    with pytest.raises(InputError, match="have no labels of the network's classes"):
        record_contrast(net, faces_and_houses, ContrastSettings())
    with pytest.raises(InputError, match="have no labels of the network's 10 classes"):
        dcnbio.evaluate(net, faces_and_houses)


@pytest.fixture
def net_of_names():
    """A network of two classes that its checkpoint names in another order than the images do."""
    net = build("dcn-ode", 0, widths=(4, 8), norm_groups=4, integration_time=0.2, classes=2)
    net.source["classes"] = ["house", "face"]
    return net


def test_labels_are_found_by_name_where_the_network_tells_its_classes(net_of_names, faces_and_houses):
    assert as_stimuli(faces_and_houses).labels_for(net_of_names).tolist() == [1, 0, 0, 1]
    found = dcnbio.evaluate(net_of_names, faces_and_houses)
    assert (found.class_names, found.confusion.sum(1).tolist()) == (["house", "face"], [2, 2])
    tree = dcnbio.probe(net_of_names, faces_and_houses, times=2, blocks=[1])
    assert tree["class"].values.tolist() == ["house", "face"]
    assert tree["label"].values.tolist() == [1, 0, 0, 1]
    assert found.right == int((tree["logits"].argmax("class") == tree["label"]).sum())
    assert np.isfinite(check_solver(net_of_names, faces_and_houses, (1e-2, 1e-3))["accuracy"]).all()
    tree = record_contrast(net_of_names, faces_and_houses, ContrastSettings(contrasts=(0.5,)), parts=["response"])
    assert tree["label"].values.tolist() == [1, 0, 0, 1]


def test_as_many_classes_of_other_names_have_no_accuracy(net_of_names, faces_and_houses):
    net_of_names.source["classes"] = ["house", "cat"]
    assert as_stimuli(faces_and_houses).labels_for(net_of_names).tolist() == [-1] * 4
    with pytest.raises(InputError, match=r"are of face \(1 in all\), which the network was not trained on"):
        dcnbio.evaluate(net_of_names, faces_and_houses)
    tree = dcnbio.probe(net_of_names, faces_and_houses, times=2, blocks=[1])
    assert tree["class"].values.tolist() == ["output 0", "output 1"]
    assert tree["label"].values.tolist() == [0, 1, 1, 0]
    assert np.isnan(check_solver(net_of_names, faces_and_houses, (1e-2, 1e-3))["accuracy"]).all()


def test_images_without_labels_leave_the_networks_names(net_of_names, faces_and_houses):
    tree = dcnbio.probe(net_of_names, faces_and_houses["image"].values, times=2, blocks=[1])
    assert tree["class"].values.tolist() == ["house", "face"]
