"""Finds the files that come with dcnbio and checks them against the manifest, with the standard library alone."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

from dcnbio.errors import InputError

__all__ = ["data_root", "shipped"]

MANIFEST = "MANIFEST.json"
PACKAGE = Path(__file__).resolve().parents[1]


def data_root() -> Path:
    """Return the folder of shipped data: inside an installed package, or the repository's own `data` beside it.

    Raises
    ------
    InputError
        When neither is there.

    Examples
    --------
    >>> (data_root() / "MANIFEST.json").is_file()
    True
    """
    places = (PACKAGE / "shipped", PACKAGE.parent / "data")
    for place in places:
        if (place / MANIFEST).is_file():
            return place
    raise InputError(
        f"the data shipped with dcnbio were found neither in {places[0]} nor in {places[1]}: "
        "install dcnbio again, or name a file of your own"
    )


def shipped(name: str) -> Path:
    """Return the path of a shipped file, whose SHA-256 is checked once per process.

    Parameters
    ----------
    name : str
        Path under the data folder, with forward slashes.

    Returns
    -------
    Path
        Where the file lies; it is for reading only.

    Raises
    ------
    InputError
        When no such file is shipped, or its content is not what the manifest says.

    Examples
    --------
    >>> shipped("images/cifar10_test_1000.npz").name
    'cifar10_test_1000.npz'
    """
    return _checked(data_root(), name)


@functools.cache
def _checked(root: Path, name: str) -> Path:
    try:
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        expected = dict(manifest)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{root / MANIFEST} cannot be read ({error}): install dcnbio again") from error
    if name not in expected:
        folder = name.rpartition("/")[0]
        near = [known for known in expected if known.startswith(f"{folder}/")] or list(expected)
        raise InputError(f"no file {name!r} is shipped with dcnbio; there are {', '.join(near[:20])}")
    path = root.joinpath(*name.split("/"))
    if not path.is_file():
        raise InputError(f"{path} belongs to dcnbio but is missing: install dcnbio again")
    found = sha256(path)
    if found != expected[name]:
        raise InputError(
            f"{path} has SHA-256 {found} where the manifest says {expected[name]}: it is damaged or was changed; "
            "install dcnbio again"
        )
    return path


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
