"""One command runs all analyses: a part that fails is named, loses no other, and makes the exit status non-zero."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import run_all
from all_steps import Drawing, Step

from dcnbio.commands.app import run as dcnbio_command
from dcnbio.errors import InputError

HERE = Path("here")
GOOD = Step("info", ("info", "dcn-ode", "--json"))
BAD = Step("bad", ("evaluate", "--checkpoint", "no-such", "--json"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run main on given steps; give its exit status and what it printed."""

    def main(*steps, drawn=(), options=()):
        monkeypatch.setattr(run_all, "STEPS", steps)
        monkeypatch.setattr(run_all, "DRAWINGS", drawn)
        monkeypatch.setattr(sys, "argv", ["run_all.py", "--out", str(tmp_path / "out"), *options])
        with pytest.raises(SystemExit) as ended:
            run_all.main()
        return ended.value.code, capsys.readouterr().out

    return main


def test_one_failing_part_loses_no_other(run, tmp_path):
    scales = Step("scales", ("analyze", "scales", "--json", "--resamples", "99"), out=".nc")
    drawn = (Drawing("scales", ("scales",)), Drawing("checkpoint", ("dcn-ode",), ("--only", "no_such_figure")))
    status, printed = run(BAD, GOOD, scales, drawn=drawn)
    assert status == 3
    assert "failed: bad: exit 2: dcnbio: checkpoint is 'no-such'" in printed
    assert "failed: figures of checkpoint: exit 2: dcnbio: figure is 'no_such_figure'" in printed
    found = json.loads((tmp_path / "out" / "info.json").read_text())
    assert found["command"] == "dcnbio info dcn-ode --json"
    assert (tmp_path / "out" / "figures" / "sigma_depth.pdf").exists()
    assert not (tmp_path / "out" / "bad.json").exists()


def test_what_is_done_is_not_done_again_and_another_command_is(run, tmp_path, monkeypatch):
    answer = tmp_path / "out" / "info.json"
    answer.parent.mkdir()
    answer.write_text(json.dumps({"command": "dcnbio info dcn-ode --json"}))
    calls = []

    def refuse(command, **options):
        calls.append(command)
        raise OSError("no more processes")

    monkeypatch.setattr(run_all.subprocess, "run", refuse)
    assert run(GOOD)[0] == 0
    assert calls == []
    status, printed = run(Step("info", ("info", "ode-net", "--json")))
    assert status == 3
    assert "failed: info: OSError: no more processes" in printed
    assert len(calls) == 1


def test_a_step_whose_items_failed_in_part_keeps_its_answer_and_is_named(run, tmp_path, monkeypatch):
    class Done:
        returncode, stdout = 3, '{"n": 2}'

    def partly(command, stderr, **options):
        stderr.write("dcnbio: image 1 was not solved\n")
        return Done()

    monkeypatch.setattr(run_all.subprocess, "run", partly)
    status, printed = run(GOOD)
    assert status == 3
    assert "failed: info: some of its items failed: dcnbio: image 1 was not solved" in printed
    assert json.loads((tmp_path / "out" / "info.json").read_text())["n"] == 2


def test_steps_run_side_by_side_and_those_that_measure_time_alone(run, monkeypatch):
    """Two wait for each other, which they can only do side by side; the one that measures time comes before both."""
    both, seen = threading.Barrier(2, timeout=30), []

    def noted(command, env, **options):
        seen.append((command[3], env["OMP_NUM_THREADS"]))
        if command[3] != "evaluate":
            both.wait()
        return subprocess.CompletedProcess(command, 0, stdout="{}")

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(run_all.os, "cpu_count", lambda: 6)
    monkeypatch.setattr(run_all.subprocess, "run", noted)
    steps = (Step("a", ("info",)), Step("b", ("probe",)), Step("timed", ("evaluate",), alone=True))
    assert run(*steps, options=("--jobs", "2"))[0] == 0
    assert seen[0] == ("evaluate", "6")
    assert sorted(seen[1:]) == [("info", "3"), ("probe", "3")]


def test_no_jobs_are_refused(run):
    with pytest.raises(InputError, match=r"jobs \(--jobs\) is 0; give 1 or more"):
        run(GOOD, options=("--jobs", "0"))


NEEDY = Step("train", ("info", "--json", "{training_set}"), small=None, needs="training_set")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "left out: train: it is of the full size alone (--size)"),
        (("--size", "full"), "left out: train: it needs --training-set"),
    ],
)
def test_a_step_that_is_left_out_is_named_with_the_reason_and_fails_nothing(run, options, why):
    status, printed = run(NEEDY, options=options)
    assert status == 0
    assert why in printed.splitlines()


def test_what_needs_the_training_set_is_given_it(run, tmp_path):
    status, printed = run(NEEDY, options=("--size", "full", "--training-set", "ode-net"))
    assert (status, "left out" in printed) == (0, False)
    assert json.loads((tmp_path / "out" / "train.json").read_text())["command"] == "dcnbio info --json ode-net"


def test_the_list_of_steps_says_what_is_run_and_what_is_not(monkeypatch, capsys):
    for size, absent in (("small", "it is of the full size alone (--size)"), ("full", "it needs --training-set")):
        monkeypatch.setattr(sys, "argv", ["run_all.py", "--list", "--size", size, "--out", "here"])
        run_all.main()
        lines = capsys.readouterr().out.splitlines()
        assert f"left out: small_data: {absent}" in lines
        assert [line.split(":")[0] for line in lines if not line.startswith("left out")] == [
            step.name for step in run_all.STEPS if step.name != "small_data"
        ]
        assert not [line for line in lines if "{" in line]
    assert not run_all.Path("here").exists()


def test_every_script_that_measures_something_is_a_step():
    scripts = {word for step in run_all.STEPS for size in ("small", "full") for word in step.arguments(size, HERE)[:1]}
    for name in ("half_a_point.py", "unit_responses.py", "small_data.py", "speed.py", "paper_tables.py"):
        assert name in scripts


def test_every_figure_is_drawn_of_a_result_that_some_step_leaves():
    there = {step.name for step in run_all.STEPS if step.out or step.name == "check_solver"} | {"dcn-ode"}
    assert {name for drawing in run_all.DRAWINGS for name in drawing.sources} == there


def known_options(command, capsys):
    """The options of a script here, or of a command of dcnbio."""
    if command[0].endswith(".py"):
        printed = subprocess.run(
            [sys.executable, str(run_all.HERE / command[0]), "--help"], capture_output=True, text=True, check=True
        ).stdout
        return set(re.findall(r"--[a-z-]+", printed))
    words = command[:2] if command[0] == "analyze" else command[:1]
    assert dcnbio_command([*words, "--help"]) == 0
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


COMMANDS = sorted(
    {
        tuple(words[:2] if words[0] == "analyze" else words[:1])
        for step in run_all.STEPS
        for size in ("small", "full")
        if (words := step.arguments(size, HERE))
    }
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_of_every_step_is_one_that_its_command_knows(command, capsys):
    known = known_options(list(command), capsys)
    images = {"training_set": "train", "test_set": "test"}
    for step in run_all.STEPS:
        for size in ("small", "full"):
            words = step.arguments(size, HERE, images)
            if tuple(words[: len(command)]) == command:
                assert {word.split("=")[0] for word in words if word.startswith("--")} <= known
