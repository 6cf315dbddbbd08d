"""Signals that ask a run to end: noted at once, obeyed after the step, so that what is saved is whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interruption"]


class Interruption:
    """Inside its ``with`` block SIGINT and SIGTERM are noted; a second one is passed on at once.

    Attributes
    ----------
    signal : int
        The signal that came; 0: none.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.signal = 0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        """Begin to note."""
        # only the main thread may set handlers; elsewhere its owner decides
        if threading.current_thread() is threading.main_thread():
            self.before = {number: signal.signal(number, self.note) for number in self.SIGNALS}
        return self

    def note(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        self.signal = number
        self.restore()

    def restore(self) -> None:
        """Put the handlers back that were there before."""
        for number, handler in self.before.items():
            signal.signal(number, handler)
        self.before = {}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End noting."""
        self.restore()

    def obey(self) -> None:
        """Pass the signal on that was noted to whoever handles it."""
        self.restore()
        if self.signal:
            signal.raise_signal(signal.Signals(self.signal))
