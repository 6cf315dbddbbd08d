from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dcnbio.model.engine import build
from dcnbio.model.engine.build import BuildError, cache_folder, library_path

REPORT = "from dcnbio.model.engine import available; status = available(); print(bool(status), status.reason, sep='|')"


def run(tmp_path, code=REPORT, **environment):
    whole = {**os.environ, "DCNBIO_CACHE": str(tmp_path), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=whole, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_engine_can_be_turned_off(tmp_path):
    assert run(tmp_path, DCNBIO_ENGINE="off") == "False|DCNBIO_ENGINE=off"
    assert not list(tmp_path.iterdir())


def test_without_a_compiler_the_reason_says_so(tmp_path):
    reason = run(tmp_path, PATH=str(tmp_path), CXX="")
    assert reason == "False|no C++ compiler was found (looked for $CXX, c++, g++ and clang++)"


def test_a_compiler_that_fails_is_reported(tmp_path):
    compiler = tmp_path / "broken-c++"
    compiler.write_text("#!/bin/sh\necho 'fatal error: out of order' >&2\nexit 1\n")
    compiler.chmod(0o755)
    answer = run(tmp_path, CXX=str(compiler))
    assert answer == f"False|the C++ compiler {compiler} failed: fatal error: out of order"


def test_calling_an_engine_that_is_off_says_what_to_do(tmp_path):
    code = "from dcnbio.model.engine.library import load\ntry:\n    load()\nexcept RuntimeError as e:\n    print(e)"
    message = "The compiled engine is not available: DCNBIO_ENGINE=off. Use the plain path."
    assert run(tmp_path, code, DCNBIO_ENGINE="off") == message


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DCNBIO_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("DCNBIO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "dcnbio"


def test_without_a_home_folder_the_reason_says_what_to_set(monkeypatch):
    def nobody(*arguments):
        raise KeyError("uid not found")

    for name in ("HOME", "DCNBIO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    for cache in (None, "~/engines"):
        if cache:
            monkeypatch.setenv("DCNBIO_CACHE", cache)
        with pytest.raises(BuildError, match=r"no home folder for .* \(.*\): set DCNBIO_CACHE to a folder"):
            cache_folder()


@pytest.mark.parametrize(
    "surroundings",
    [
        "with torch.autocast('cpu', dtype=torch.bfloat16):",
        "torch.set_default_dtype(torch.float16)\nif True:",
        "torch.set_default_dtype(torch.float64)\nif True:",
        "with torch.device('meta'):",
        "with torch.inference_mode():",
        "with FakeTensorMode():",
    ],
)
@pytest.mark.usefixtures("compiled")
def test_where_the_engine_is_first_asked_for_does_not_matter(surroundings):
    code = (
        "import torch\nfrom torch._subclasses.fake_tensor import FakeTensorMode\n"
        "from dcnbio.model.engine import available\n"
        f"{surroundings}\n    first = available()\nprint(bool(first), bool(available()), first.reason)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "True True compiled, and equal to torch on a small case", done.stderr


def fake_compiler(tmp_path):
    """Answers like a compiler, writes a line instead of a library, and counts its compilations."""
    compiler = tmp_path / "fake-c++"
    log = tmp_path / "log"
    compiler.write_text(
        "#!/bin/sh\n"
        'while [ $# -gt 0 ]; do if [ "$1" = "-o" ]; then echo built > "$2"; echo once >> '
        + f"{log}"
        + "; fi; shift; done\n"
    )
    compiler.chmod(0o755)
    return compiler, log


def test_a_library_is_built_once_and_again_when_the_source_changes(monkeypatch, tmp_path):
    compiler, log = fake_compiler(tmp_path)
    source = tmp_path / "source"
    source.mkdir()
    (source / "engine.cpp").write_text("int one;")
    monkeypatch.setattr(build, "SOURCE", source)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("DCNBIO_CACHE", str(tmp_path / "cache"))
    first = library_path()
    assert first.read_text() == "built\n"
    assert library_path() == first
    assert len(log.read_text().split()) == 2  # one source compiled, one library linked
    (source / "engine.cpp").write_text("int two;")
    assert library_path() != first
    assert len(log.read_text().split()) == 4
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".lock", ".so", ".so"]


def test_a_cache_that_cannot_be_written_is_reported(monkeypatch, tmp_path):
    compiler, _ = fake_compiler(tmp_path)
    monkeypatch.setenv("CXX", str(compiler))
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DCNBIO_CACHE", str(tmp_path / "file"))
    with pytest.raises(BuildError, match=r"the cache folder .*file cannot be written .*: set DCNBIO_CACHE"):
        library_path()
