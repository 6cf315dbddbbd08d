"""How the solution of one image ended, as data with a readable message."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["MEANING", "Status", "explain"]


class Status(IntEnum):
    """The outcome of one image's solve."""

    OK = 0
    NON_FINITE = 1
    STEP_UNDERFLOW = 2
    MAX_STEPS = 3
    MAX_EVALUATIONS = 4
    BAD_INPUT = 5


MEANING = {
    Status.OK: "reached the end",
    Status.NON_FINITE: "non-finite right-hand side",
    Status.STEP_UNDERFLOW: "step too small to move time on",
    Status.MAX_STEPS: "limit on attempted steps reached",
    Status.MAX_EVALUATIONS: "limit on function evaluations reached",
    Status.BAD_INPUT: "non-finite input",
}


def explain(status: int, block: str, reached: float) -> str:
    """Say in words how a solve ended.

    Parameters
    ----------
    status : int
        A `Status`.
    block : str
        The block's name.
    reached : float
        Solver time that was reached.

    Returns
    -------
    str

    Examples
    --------
    >>> explain(Status.NON_FINITE, "block1", 0.25)
    'non-finite right-hand side in block1 at t = 0.25'
    """
    return f"{MEANING[Status(status)]} in {block} at t = {reached:.6g}"
