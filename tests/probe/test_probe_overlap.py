"""Writing while solving: in order, one piece at a time, and no error lost."""

import threading
import time

import pytest

from dcnbio.probe.overlap import one_behind


def test_pieces_are_worked_on_in_order_and_two_at_most_are_alive():
    started, finished = [], []

    def work(piece):
        started.append(piece)
        time.sleep(0.01)
        finished.append(piece)

    with one_behind(work) as hand_over:
        for piece in range(5):
            hand_over(piece)
            assert len(finished) >= piece  # all but the one that was just handed over
    assert started == finished == list(range(5))


def test_work_goes_on_beside_the_caller():
    release = threading.Event()
    with one_behind(lambda piece: release.wait(10)) as hand_over:
        hand_over(0)
        assert not release.is_set()
        release.set()


def test_an_error_of_the_work_reaches_the_caller():
    def work(piece):
        raise OSError(f"disk full at {piece}")

    def attempt(pieces):
        with one_behind(work) as hand_over:
            for piece in range(pieces):
                hand_over(piece)

    for pieces in (1, 2):
        with pytest.raises(OSError, match="disk full at 0"):
            attempt(pieces)


def test_what_was_handed_over_is_finished_when_the_caller_is_interrupted():
    finished = []

    def work(piece):
        time.sleep(0.05)
        finished.append(piece)

    def interrupted():
        with one_behind(work) as hand_over:
            hand_over(7)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert finished == [7]
