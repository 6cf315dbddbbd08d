"""Compile the engine's C++ source once per machine and keep the library in a cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["BuildError", "cache_folder", "library_path"]

SOURCE = Path(__file__).parent / "source"
# No -ffast-math: a NaN or an infinity in the state must come out again, and sums must keep their order.
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC")
LINK_FLAGS = ("-shared", "-pthread")
TIME_LIMIT = 600.0  # seconds, for one compilation on a slow or busy machine


class BuildError(RuntimeError):
    """The library cannot be built here; the message says why."""


def cache_folder() -> Path:
    """Return the folder for compiled libraries: ``DCNBIO_CACHE``, else ``dcnbio`` in the user's cache folder.

    Raises
    ------
    BuildError
        If the user has no home folder, and none is named.
    """
    named = os.environ.get("DCNBIO_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if named:
            return Path(named).expanduser()
        return (Path(base) if base else Path("~/.cache").expanduser()) / "dcnbio"
    except RuntimeError as error:
        raise BuildError(
            f"there is no home folder for compiled libraries ({error}): set DCNBIO_CACHE to a folder"
        ) from error


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise BuildError("no C++ compiler was found (looked for $CXX, c++, g++ and clang++)")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"the C++ compiler could not be run: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise BuildError(f"the C++ compiler {command[0]} failed: {first}")
    return done.stdout


def _key(compiler: str) -> str:
    """Hash what decides the library's bits: source, flags, compiler and the processor it compiles for."""
    digest = hashlib.sha256(" ".join((*FLAGS, *LINK_FLAGS)).encode())
    for path in sorted(SOURCE.iterdir()):
        if path.suffix in {".h", ".cpp"}:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(_run([compiler, "--version"]).encode())
    digest.update(_run([compiler, "-march=native", "-dM", "-E", "-x", "c++", os.devnull]).encode())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process compile while others wait; without file locks they all compile, which does no harm."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / "engine.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def library_path() -> Path:
    """Return the compiled library, compiling it first where this machine has none.

    Returns
    -------
    pathlib.Path
        A shared library in the cache folder.

    Raises
    ------
    BuildError
        Without a working compiler, or where the cache folder is not known or cannot be written.
    """
    compiler = _compiler()
    folder = cache_folder()
    target = folder / f"engine-{_key(compiler)}.so"
    if target.exists():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(folder):
            if not target.exists():
                _compile(compiler, target)
    except OSError as error:
        raise BuildError(f"the cache folder {folder} cannot be written ({error}): set DCNBIO_CACHE") from error
    return target


def _compile(compiler: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as scratch:
        parts = {path: Path(scratch) / f"{path.stem}.o" for path in sorted(SOURCE.glob("*.cpp"))}
        commands = [[compiler, *FLAGS, "-c", str(path), "-o", str(part)] for path, part in parts.items()]
        with ThreadPoolExecutor() as pool:
            list(pool.map(_run, commands))
        built = Path(scratch) / target.name
        _run([compiler, *LINK_FLAGS, *map(str, parts.values()), "-o", str(built)])
        built.replace(target)  # within one folder, so nobody ever sees half a library
