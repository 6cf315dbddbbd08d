from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcnbio.recording import RecordingWriter

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="session")
def run() -> types.ModuleType:
    """The small recording of small_run.py."""
    spec = importlib.util.spec_from_file_location("small_run", HERE / "small_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def write(run: types.ModuleType) -> Callable[..., None]:
    """Write some batches of a layout to a store, and finish it when these are all."""

    def write_batches(path: Path, plan: Any, only: Any = None, failed: tuple[int, ...] = (), **options: Any) -> None:
        with RecordingWriter(path, plan, run.PROVENANCE, **options) as writer:
            for index in range(plan.batches) if only is None else only:
                if index not in writer.done:
                    writer.write(run.batch(plan, index, failed))
            if only is None:
                writer.finish()

    return write_batches


@pytest.fixture
def start_python(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a script in another process, which can import small_run."""

    def start(script: str, *arguments: str) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(ROOT), str(HERE)])
        return subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
