"""One command runs all analyses: a part that fails is named, loses no other, and makes the exit status non-zero."""

from __future__ import annotations

import json
import re
import sys

import pytest
import run_all
from run_all import Step

from dcnbio.commands.app import run as dcnbio_command

GOOD = Step("info", ("info", "dcn-ode", "--json"))
BAD = Step("bad", ("evaluate", "--checkpoint", "no-such", "--json"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run main on given steps; give its exit status and what it printed."""

    def main(*steps, drawn=()):
        monkeypatch.setattr(run_all, "STEPS", steps)
        monkeypatch.setattr(run_all, "DRAWN", dict(drawn))
        monkeypatch.setattr(sys, "argv", ["run_all.py", "--out", str(tmp_path / "out")])
        with pytest.raises(SystemExit) as ended:
            run_all.main()
        return ended.value.code, capsys.readouterr().out

    return main


def test_one_failing_part_loses_no_other(run, tmp_path):
    scales = Step("scales", ("analyze", "scales", "--json", "--resamples", "99"), out=".nc")
    drawn = {"scales": "", "checkpoint": "no_such_figure"}
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


def test_every_option_of_every_step_is_one_that_dcnbio_knows(tmp_path, capsys):
    for step in run_all.STEPS:
        if step.command[0].endswith(".py"):
            assert (run_all.HERE / step.command[0]).is_file()
            continue
        words = [word for word in step.command if not word.startswith("--") and not word.isdecimal()]
        assert dcnbio_command([*words, "--help"]) == 0
        known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
        for size in ("small", "full"):
            options = {word for word in step.arguments(size, tmp_path) if word.startswith("--")}
            assert options <= known
