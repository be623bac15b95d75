"""Stopping in time: from a signal, from another thread, in the middle of a sleep."""

import os
import signal
import threading
import time

import pytest

from outbox.stopping import Stop, stop_on_signals
from tests.sessions import Background

A_LONG_SLEEP = 60


def test_stop_is_not_set_until_somebody_asks() -> None:
    with Stop() as stop:
        assert not stop.wait(0)
        stop.set()
        assert stop.is_set
        assert stop.wait(A_LONG_SLEEP)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_sleep_ends_when_a_signal_arrives(sign: signal.Signals) -> None:
    with stop_on_signals() as stop:
        begin = time.monotonic()
        threading.Timer(0.05, os.kill, (os.getpid(), sign)).start()

        assert stop.wait(A_LONG_SLEEP)

        assert time.monotonic() - begin < A_LONG_SLEEP / 2


def test_every_thread_that_sleeps_on_the_same_stop_wakes_up() -> None:
    with Stop() as stop:
        sleepers = [Background(lambda: stop.wait(A_LONG_SLEEP)) for _ in range(5)]
        stop.set()
        assert [sleeper.result() for sleeper in sleepers] == [True] * 5


def test_signals_that_come_in_thousands_do_no_harm() -> None:
    with stop_on_signals() as stop:
        for _ in range(20_000):  # far more than the socket's buffer holds
            os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(A_LONG_SLEEP)


def test_handlers_from_before_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
