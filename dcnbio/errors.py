"""The errors that dcnbio raises on purpose, each with the exit status it gives the command line."""

from __future__ import annotations

__all__ = ["CheckpointError", "DcnbioError", "ImageError", "InputError", "RecordingError", "SolverError"]


class DcnbioError(Exception):
    """Anything dcnbio refuses or cannot finish; its message is one plain sentence for the user.

    Attributes
    ----------
    exit_status : int
        What the command line returns: 2 for a usage or input error, 3 for "finished, but some items failed".

    Examples
    --------
    >>> from dcnbio.errors import InputError
    >>> issubclass(InputError, DcnbioError), InputError("contrast is -1; it must be 0 or more.").exit_status
    (True, 2)
    """

    exit_status = 2


class InputError(DcnbioError, ValueError):
    """An argument or file that cannot be used: the message names it, the value, what is allowed and the usual fix."""


class ImageError(InputError):
    """An image, folder or archive that cannot be read as 32 x 32 RGB stimuli."""


class CheckpointError(InputError):
    """A checkpoint that is missing, damaged, foreign or holds non-finite weights."""


class RecordingError(InputError):
    """A recording that is missing, unfinished, damaged or in the way."""


class SolverError(DcnbioError, ArithmeticError):
    """A differential equation that could not be integrated to its end within the stated limits."""

    exit_status = 3
