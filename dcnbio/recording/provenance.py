"""Where the numbers of a recording come from, and which part of that defines them."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from dcnbio.errors import RecordingError
from dcnbio.stored_text import stored_text
from dcnbio.version import __version__

__all__ = ["differences", "fingerprint", "gather_provenance", "numbers_of", "provenance_json"]

PACKAGES = ("torch", "torchdiffeq", "numpy", "scipy", "xarray", "zarr", "h5netcdf", "safetensors", "pillow")
DESCRIPTIVE = ("date", "command", "hostname", "platform", "python", "names")
NUMERIC_PACKAGES = ("torch", "torchdiffeq", "numpy")


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise RecordingError(
        f"provenance holds {value!r} of type {type(value).__name__}; give numbers, text, lists and mappings of these"
    )


def provenance_json(provenance: Mapping[str, Any]) -> str:
    """Write provenance as one JSON text with sorted keys, which every file format can hold as an attribute.

    Names of files that are no UTF-8 have question marks in place of what cannot be stored.

    Raises
    ------
    RecordingError
        When a value has no place in JSON.

    Examples
    --------
    >>> provenance_json({"tf32": False, "seed": np.int64(3)})
    '{"seed": 3, "tf32": false}'
    """
    return stored_text(json.dumps(provenance, sort_keys=True, ensure_ascii=False, default=_plain))


def _date() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        moment = datetime.datetime.now(datetime.UTC)
    else:
        try:
            moment = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise RecordingError(
                f"SOURCE_DATE_EPOCH is {epoch!r}; give whole seconds since 1970, or unset it"
            ) from error
    return moment.replace(microsecond=0).isoformat()


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def gather_provenance(
    fields: Mapping[str, Any], command: str | None = None, names: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Say where the numbers come from: the caller's fields, versions, machine, command and date.

    Parameters
    ----------
    fields : mapping
        What defines the numbers: weights' SHA-256, spec, images' id, solver, tolerances, stepping, dtype, device, TF32
        state, seed. All of it counts in `fingerprint`.
    command : str, optional
        The command line; that of this process when not given.
    names : mapping, optional
        Paths and other names, for people; they do not count in `fingerprint`, since a file may be moved.

    Returns
    -------
    dict
        ``fields`` with ``dcnbio_version``, ``versions``, ``python``, ``platform``, ``date`` (UTC, or
        SOURCE_DATE_EPOCH), ``command`` and ``names``.

    Raises
    ------
    RecordingError
        When a field has a name that is used here or a value that JSON cannot hold.

    Examples
    --------
    >>> about = gather_provenance({"seed": 0}, command="dcnbio probe", names={"checkpoint": "dcn-ode"})
    >>> about["seed"], about["command"], about["names"]
    (0, 'dcnbio probe', {'checkpoint': 'dcn-ode'})
    """
    about: dict[str, Any] = {
        "dcnbio_version": __version__,
        "versions": _versions(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "date": _date(),
        "command": " ".join(sys.argv) if command is None else command,
        "names": dict(names or {}),
    }
    taken = sorted(set(fields) & set(about))
    if taken:
        raise RecordingError(f"provenance field {taken[0]!r} is filled in by dcnbio; give it another name")
    # through JSON and back, so that what is compared now equals what is read from a file later
    return dict(json.loads(provenance_json({**about, **fields})))


def numbers_of(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the part of a provenance that defines the numbers.

    Left out: date, command, host, platform, Python, names, and the versions of packages that compute nothing.

    Examples
    --------
    >>> numbers_of({"date": "2024-01-01", "seed": 0, "versions": {"torch": "2.6", "zarr": "3.1.3"}})
    {'seed': 0, 'versions': {'torch': '2.6'}}
    """
    numbers = {key: value for key, value in provenance.items() if key not in DESCRIPTIVE}
    if isinstance(numbers.get("versions"), Mapping):
        numbers["versions"] = {key: text for key, text in numbers["versions"].items() if key in NUMERIC_PACKAGES}
    return dict(json.loads(provenance_json(numbers)))


def fingerprint(provenance: Mapping[str, Any]) -> str:
    """SHA-256 of the part of a provenance that defines the numbers.

    Parameters
    ----------
    provenance : mapping
        From `gather_provenance`, or any mapping of plain values.

    Returns
    -------
    str
        64 hexadecimal digits; the order of keys does not matter.

    Examples
    --------
    >>> fingerprint({"seed": 0, "date": "2024-01-01"}) == fingerprint({"date": "2025-01-01", "seed": 0})
    True
    >>> fingerprint({"seed": 0}) == fingerprint({"seed": 1})
    False
    """
    return hashlib.sha256(provenance_json(numbers_of(provenance)).encode()).hexdigest()


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value:
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name every field in which two mappings differ, with both values.

    Parameters
    ----------
    old, new : mapping
        Provenances, or any mappings of plain values.

    Returns
    -------
    list of str
        One sentence per field; empty where they agree.

    Examples
    --------
    >>> differences({"solver": {"rtol": 1e-3}, "seed": 0}, {"solver": {"rtol": 1e-4}, "seed": 0})
    ['solver.rtol was 0.001 and is now 0.0001']
    """
    before, after = _flat(old), _flat(new)
    sentences = []
    for name in sorted(before.keys() | after.keys()):
        was, now = (json.dumps(side[name]) if name in side else "absent" for side in (before, after))
        if was != now:
            sentences.append(f"{name} was {was} and is now {now}")
    return sentences
