"""The manifest of the shipped data: the SHA-256 of every file, written by `python -m dcnbio.images.manifest`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from dcnbio.images.shipped import MANIFEST, PACKAGE, sha256

__all__ = ["build_manifest", "write_manifest"]


def build_manifest(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every file under a data folder, but the manifest and hidden files.

    Parameters
    ----------
    root : Path
        The data folder.

    Returns
    -------
    dict of str to str
        Path under the folder, with forward slashes, to hexadecimal digits; sorted.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "empty").write_bytes(b"")
    ...     build_manifest(Path(folder))["empty"][:8]
    'e3b0c442'
    """
    names = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    kept = [name for name in names if not any(part.startswith(".") for part in name.parts) and str(name) != MANIFEST]
    return {name.as_posix(): sha256(root / name) for name in kept}


def write_manifest(root: Path) -> Path:
    r"""Write the manifest of a data folder anew, whole or not at all, and return its path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_manifest(Path(folder)).read_text()
    '{}\n'
    """
    path = root / MANIFEST
    beside = path.with_name(f".{MANIFEST}.{os.getpid()}")
    beside.write_text(json.dumps(build_manifest(root), indent=1) + "\n", encoding="utf-8", newline="\n")
    beside.replace(path)
    return path


if __name__ == "__main__":
    print(write_manifest(PACKAGE.parent / "data"))
