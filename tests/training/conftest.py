from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from dcnbio.training import RunOptions, train

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RUN = """
from pathlib import Path
import small_runs
from dcnbio.training import RunOptions, train
{before}
def show(figures):
    if figures.get("total_steps"):
        print(figures["step"], flush=True)
options = RunOptions(Path({out!r}), save_minutes=0.0)
train(small_runs.long_recipe(), small_runs.images(), options, show)
"""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    # networks this small are done before a second thread has woken up
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def small() -> types.ModuleType:
    """The small runs of small_runs.py."""
    spec = importlib.util.spec_from_file_location("small_runs", HERE / "small_runs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def uninterrupted(small: types.ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the long run, trained in one piece."""
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("whole")
    train(small.long_recipe(), small.images(), RunOptions(out))
    return out


@pytest.fixture
def start_run() -> Callable[..., subprocess.Popen[str]]:
    """Start the long run in another process, which prints each step and saves after it."""

    def start(out: Path, before: str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", RUN.format(out=str(out), before=textwrap.dedent(before))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)]), "OMP_NUM_THREADS": "1"},
            # a shell that runs the tests in the background has its children ignore interruptions
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return start
