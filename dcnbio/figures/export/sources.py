"""What a file or folder is that figures are to be made of."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcnbio.analysis.result_file import MARK, is_result, open_result
from dcnbio.errors import InputError
from dcnbio.figures.training_run import metrics_files, read_run
from dcnbio.recording import open_recording
from dcnbio.recording.target import state_of

__all__ = ["Source", "content_hash", "open_source"]


@dataclass(frozen=True, eq=False)
class Source:
    """A result that figures are made of.

    Attributes
    ----------
    kind : str
        "recording", "run", "filters", "spec", or the name of an analysis.
    result : object
        What figures of that kind take.
    name : str
        For file names and provenance.
    sha256 : str
        Of the file, or of the folder's files; of a run that went on from others, of the hashes of their metrics.
    path : str
        What was read, where it is a file or a folder; it tells results of the same name apart.
    """

    kind: str
    result: Any
    name: str
    sha256: str
    path: str = ""


def content_hash(path: str | os.PathLike[str]) -> str:
    """Give the SHA-256 of a file, or of the names and hashes of a folder's files.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     empty = content_hash(folder)
    ...     _ = Path(folder, "a").write_bytes(b"")
    ...     content_hash(folder) != empty, content_hash(Path(folder, "a"))[:12]
    (True, 'e3b0c44298fc')
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        lines = [f"{file.relative_to(path).as_posix()} {content_hash(file)}\n" for file in files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def read_check(path: Path) -> dict[str, Any]:
    """Read what ``dcnbio check-solver --json`` printed."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no JSON ({error}); give what dcnbio check-solver --json prints.") from error
    if not isinstance(found, dict) or "solvers" not in found or "reference" not in found:
        raise InputError(f"{path} holds no solver check; of JSON files, figures take what dcnbio check-solver prints.")
    return found


def open_source(path: str | os.PathLike[str]) -> Source | None:
    """Open a recording, a result of ``dcnbio analyze``, a solver check or a training run; None if it is none of these.

    Raises
    ------
    InputError
        If it is one of these, but unfinished or damaged.

    Examples
    --------
    >>> open_source("dcn-ode") is None
    True
    """
    path = Path(path)
    if path.is_file() and is_result(path):
        tree = open_result(path)
        return Source(str(tree.attrs[MARK]), tree, path.stem, content_hash(path), str(path))
    if path.exists() and state_of(path) in ("complete", "unfinished"):
        return Source("recording", open_recording(path), path.stem, content_hash(path), str(path))
    if path.suffix == ".json" and path.is_file():
        return Source("solver_check", read_check(path), path.stem, content_hash(path), str(path))
    metrics = metrics_files(path)
    if metrics[-1].name.endswith("metrics.csv") and metrics[-1].is_file():
        run, hashes = read_run(path), [content_hash(file) for file in metrics]
        together = hashlib.sha256("".join(hashes).encode()).hexdigest() if len(hashes) > 1 else hashes[0]
        return Source("run", run, run.name, together, str(path))
    if path.suffix in (".nc", ".zarr", ".csv"):
        what = "is none that dcnbio wrote" if path.exists() else "does not exist"
        raise InputError(
            f"{path} {what}; give a recording (.zarr, .nc), a result of dcnbio analyze (.nc), a folder of dcnbio "
            "train, or a checkpoint."
        )
    return None
