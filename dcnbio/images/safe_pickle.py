"""Reads the pickles of CIFAR-10's python layout without running anything that they name.

The official files name five things: numpy's array constructor, array and dtype, and `_codecs.encode`. Each is replaced
here by a plain stand-in of ours that only collects numbers, so that not even numpy's own code sees what a pickle says;
any other name is refused before it is looked up.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import ImageError

__all__ = ["load_batch_pickle"]


def load_batch_pickle(data: bytes, where: str) -> dict[str, Any]:
    """Return the dictionary in a pickle that holds text, numbers, lists and 8-bit arrays only.

    Parameters
    ----------
    data : bytes
        The whole file.
    where : str
        Its name, for messages.

    Returns
    -------
    dict of str to object
        Its items; keys as text, byte strings as bytes, arrays as uint8 arrays.

    Raises
    ------
    ImageError
        When it names anything else, is damaged, or holds no dictionary.

    Examples
    --------
    >>> load_batch_pickle(pickle.dumps({b"labels": [3, 5]}), "test_batch")
    {'labels': [3, 5]}
    >>> load_batch_pickle(pickle.dumps(print), "test_batch")
    Traceback (most recent call last):
    ...
    dcnbio.errors.ImageError: test_batch names 'builtins.print', ...
    """
    try:
        _check_sizes(data)
        found = _BatchUnpickler(io.BytesIO(data), where).load()
    except ImageError:
        raise
    except Exception as error:  # a damaged pickle can raise anything, from EOFError to MemoryError
        raise ImageError(
            f"{where} is damaged or no CIFAR-10 batch ({str(error) or type(error).__name__}): get it again"
        ) from error
    if not isinstance(found, dict):
        raise ImageError(f"{where} holds a {type(found).__name__}, not a CIFAR-10 batch: get it again")
    return {_text(key): value.array(where) if isinstance(value, _Array) else value for key, value in found.items()}


def _check_sizes(data: bytes) -> None:
    """Refuse sizes that the file itself cannot fill: the unpickler would set memory aside for them first."""
    for count, (opcode, argument, _) in enumerate(pickletools.genops(data), start=1):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > count:
            raise ValueError(f"entry {argument} after {count} steps")


def _text(key: object) -> str:
    return key.decode("latin-1") if isinstance(key, bytes) else str(key)


class _Named:
    """Stands for a class that is only named, as an argument."""


class _Dtype:
    """Stands for numpy.dtype: remembers the code it was made with."""

    def __init__(self, code: object = None, *_: object) -> None:
        self.code = _text(code)

    def __setstate__(self, state: object) -> None:
        """Pass over byte order and the like: 8-bit values have none."""


class _Array:
    """Stands for an array: remembers shape, type and content, and checks them when asked for the array."""

    def __init__(self, *_: object) -> None:
        self.state: Any = ()

    def __setstate__(self, state: object) -> None:
        self.state = state

    def array(self, where: str) -> NDArray[np.uint8]:
        """Return the array, if it is one of 8-bit values in row order."""
        try:
            _, shape, dtype, column_order, content = self.state
            if dtype.code not in ("u1", "uint8", "|u1") or column_order:
                raise ValueError(f"type {dtype.code}, column order {column_order}")
            return np.frombuffer(content, dtype=np.uint8).reshape(tuple(int(side) for side in shape))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise ImageError(f"{where} has an array of other than 8-bit values ({error}): get it again") from error


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """Stand for _codecs.encode, as Python 3 writes bytes in old protocols."""
    if encoding not in ("latin1", "latin-1"):
        raise ImageError(f"a CIFAR-10 batch asks for the encoding {encoding!r}: it is not an official file")
    return text.encode("latin-1")


_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Named,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
}


class _BatchUnpickler(pickle.Unpickler):
    """An unpickler that can reach nothing but the stand-ins."""

    def __init__(self, file: io.BytesIO, where: str) -> None:
        super().__init__(file, encoding="bytes")
        self.where = where

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return the stand-in of a name that official files hold, and refuse every other."""
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise ImageError(
                f"{self.where} names '{module}.{name}', which no CIFAR-10 batch holds: it was not opened and nothing "
                "of it was run; get the official file"
            ) from None
