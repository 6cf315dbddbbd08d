"""Scripts end in words, with the exit status of the command line, and their results say how to make them again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import script

from dcnbio.errors import InputError, SolverError

ANALYSES = Path(__file__).parents[2] / "analyses"
COMMANDS = sorted(
    path.name for path in ANALYSES.glob("*.py") if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (InputError("limit is 0; give 1 or more."), 2, "limit is 0; give 1 or more.\n"),
        (SolverError("block 1 was not solved."), 3, "block 1 was not solved.\n"),
        (KeyboardInterrupt(), 130, "interrupted; what is finished is kept\n"),
    ],
)
def test_what_ends_a_script_is_one_sentence_and_a_status(error, status, said, capsys, monkeypatch):
    def main():
        raise error

    monkeypatch.setattr(sys, "argv", ["analyses/contrast_response.py"])
    with pytest.raises(SystemExit) as ended:
        script.end_in_words(main)
    assert ended.value.code == status
    assert capsys.readouterr().err == f"contrast_response.py: {said}"


def test_a_fault_of_our_own_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        script.end_in_words(lambda: 1 / 0)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_script_ends_that_way(name):
    """train_on_gpu.py runs where dcnbio's commands cannot be imported, and half its work is to end in words."""
    text = (ANALYSES / name).read_text(encoding="utf-8")
    assert "    end_in_words(main)\n" in text or name == "train_on_gpu.py"


def test_a_network_that_is_not_there_leaves_no_traceback(tmp_path):
    command = [sys.executable, str(ANALYSES / "contrast_response.py"), "nosuch", "--out", str(tmp_path / "a.nc")]
    environment = {**os.environ, "PYTHONPATH": str(ANALYSES.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("contrast_response.py: ")
    assert "nosuch" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_in_a_result_leaves_out_where_things_lie(tmp_path):
    given = ["dcn-ode", "--images", str(tmp_path / "test.tar.xz"), "--out", "x.json", "--overwrite", "--folder=runs"]
    script.write_json(tmp_path / "a.json", {"claims": []}, "half_a_point.py", given)
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert found == {"claims": [], "command": "python analyses/half_a_point.py dcn-ode --images test.tar.xz"}
    assert shlex.split(found["command"])[-1] == "test.tar.xz"
