from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcnbio.errors import RecordingError
from dcnbio.recording import Batch, BlockLayout, VariableLayout, assemble
from dcnbio.recording.layout_json import layout_from_json, layout_summary, layout_to_json


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stimulus": [0, 0]}, "each once"),
        ({"stimulus": [], "labels": [], "files": []}, "at least one image"),
        ({"labels": [1, 2]}, "labels has 2 entries for 10 stimuli"),
        ({"files": ["a"]}, "files has 1 entries for 10 stimuli"),
        ({"batch_size": 0}, "batch_size is 0; give at least 1"),
        ({"nfe_per": "run"}, "nfe_per is 'run'; allowed are 'image' and 'batch'"),
        ({"blocks": [BlockLayout("b", [0.0], (1, 1, 1))] * 2}, "blocks share a name: b, b"),
        ({"statuses": ()}, "statuses has 0 names"),
    ],
)
def test_a_layout_that_cannot_be_recorded_is_refused(run, changes, message):
    with pytest.raises(RecordingError, match=message):
        run.layout(**changes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logits", [0.0], (1, 1, 1)), "block name 'logits' cannot name a node"),
        (("a/b", [0.0], (1, 1, 1)), "block name 'a/b' cannot name a node"),
        (("b", [], (1, 1, 1)), "strictly ascending times"),
        (("b", [0.0, 0.0], (1, 1, 1)), "strictly ascending times"),
        (("b", [0.0, np.nan], (1, 1, 1)), "strictly ascending times"),
        (("b", [0.0], (1, 0, 1)), "shape of b is"),
        (("b", [0.0], (2, 2)), "shape of b is"),
        (("b", [0.0], (2, 1, 1), [1]), "channels of b must be 2 different indices"),
        (("b", [0.0], (2, 1, 1), [1, 1]), "channels of b must be 2 different indices"),
        (("b", [0.0], (1, 1, 1), [0], "int8"), "dtype of b is 'int8'; allowed are float16, float32, float64"),
    ],
)
def test_a_block_that_cannot_be_recorded_is_refused(arguments, message):
    with pytest.raises(RecordingError, match=message):
        BlockLayout(*arguments)


@pytest.mark.parametrize(
    ("name", "dims", "message"),
    [
        ("h", ("time",), "'h' is taken"),
        ("norm", ("stimulus",), "'stimulus'; allowed are time, channel, y, x, class and other"),
    ],
)
def test_an_extra_variable_that_cannot_be_stored_is_refused(name, dims, message):
    with pytest.raises(RecordingError, match=message):
        VariableLayout(name, dims, "float32", "x", "1")


def test_a_layout_does_not_follow_the_arrays_it_was_made_from(run):
    stimulus = np.arange(10)
    plan = run.layout(stimulus=stimulus)
    stimulus[0] = 99
    assert plan.stimulus[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        plan.blocks[0].times[0] = 1


def test_json_holds_the_whole_layout(run):
    plan = run.layout(blocks=[BlockLayout("b", np.array([0.1, 1 / 3, np.pi]), (2, 1, 1), channels=[3, 1])])
    again = layout_from_json(layout_to_json(plan))
    assert layout_to_json(again) == layout_to_json(plan)
    np.testing.assert_array_equal(again.blocks[0].times, plan.blocks[0].times)


def test_the_summary_sees_every_change_but_file_names(run):
    plan = run.layout()
    changed = [
        run.layout(stimulus=np.arange(10)),
        run.layout(labels=np.zeros(10)),
        run.layout(batch_size=5),
        run.layout(nfe_per="batch"),
        run.layout(dtype="float64"),
        run.layout(second_h=False),
        run.layout(class_names=["a", "b"]),
        run.layout(blocks=[dataclasses.replace(plan.blocks[0], times=np.linspace(0, 2.001, 3)), plan.blocks[1]]),
    ]
    assert all(layout_summary(other) != layout_summary(plan) for other in changed)
    assert layout_summary(run.layout(files=["x"] * 10)) == layout_summary(plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nfe": [1]}, r"nfe of block1 has shape \(1,\); give one entry for each of the batch's 4 images"),
        ({"status": [0, 0, 0, 9]}, "status of block1 holds 9; this recording names codes 0 to 4"),
        ({"step_times": [[1.0]]}, "step_times of block1 has 1 entries"),
        ({"reasons": ["x"]}, r"reasons of block1 has shape \(1,\)"),
        ({"h": None}, r"h of block1 has shape None; the layout says \(4, 3, 4, 5, 6\)"),
        ({"h": np.zeros((4, 3, 4, 6, 5))}, r"h of block1 has shape \(4, 3, 4, 6, 5\)"),
        ({"extra": {"norm": np.zeros(4)}}, r"extra of block1 holds \['norm'\]"),
    ],
)
def test_a_batch_that_is_not_what_was_announced_is_refused(run, change, message):
    plan = run.layout()
    good = run.batch(plan, 0)
    blocks = {**good.blocks, "block1": dataclasses.replace(good.blocks["block1"], **change)}
    with pytest.raises(RecordingError, match=message):
        assemble(plan, [dataclasses.replace(good, blocks=blocks)], {})


def test_batches_off_the_grid_missing_or_doubled_are_refused(run):
    plan = run.layout()
    first = run.batch(plan, 0)
    with pytest.raises(
        RecordingError, match="first is 2; batches of this recording start at multiples of batch_size = 4"
    ):
        assemble(plan, [dataclasses.replace(first, first=2)], {})
    with pytest.raises(RecordingError, match="batch 1 is missing, and 2 in all"):
        assemble(plan, [first], {})
    with pytest.raises(RecordingError, match="batch 0 comes twice"):
        assemble(plan, [first, first], {})
    with pytest.raises(RecordingError, match=r"logits has shape \(4, 3\); this batch needs \(4, 2\)"):
        assemble(plan, [dataclasses.replace(first, logits=np.zeros((4, 3)))], {})
    with pytest.raises(RecordingError, match=r"the batch holds blocks \[\]"):
        assemble(plan, [Batch(0, first.logits, {})], {})


def test_values_beyond_float16_are_refused_rather_than_made_infinite(run):
    plan = run.layout(dtype="float16")
    first = run.batch(plan, 0)
    h = np.full((4, 3, 4, 5, 6), 7e4, dtype=np.float32)
    blocks = {**first.blocks, "block1": dataclasses.replace(first.blocks["block1"], h=h)}
    with pytest.raises(RecordingError, match="h of block1 reaches 70000, beyond the 65504 that float16 holds"):
        assemble(plan, [dataclasses.replace(first, blocks=blocks)], {})
