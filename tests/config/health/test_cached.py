"""A look at the database: found once for all who ask, kept for a while, and never waited for without end."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection

from config.health.cached import Cached, NoAnswer
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LONG = 60.0


class Finding:
    """Finds 1, then 2 and so on, once it may."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = threading.Event()

    def __call__(self) -> int:
        self.begun += 1
        found = self.begun
        assert self.may_end.wait(LONG)
        return found


@pytest.fixture
def finding() -> Iterator[Finding]:
    finding = Finding()
    yield finding
    finding.may_end.set()


def test_value_is_found_once_for_all_who_ask_at_once(finding: Finding) -> None:
    cached = Cached(finding, seconds=LONG, patience=LONG)
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(cached.get) for _ in range(4)]
        wait_until(lambda: finding.begun)
        finding.may_end.set()
        assert [each.result() for each in asked] == [1, 1, 1, 1]
    assert (cached.get(), finding.begun) == (1, 1)


def test_value_is_found_anew_when_its_time_is_over(finding: Finding) -> None:
    finding.may_end.set()
    cached = Cached(finding, seconds=0.0, patience=LONG)
    assert [cached.get(), cached.get()] == [1, 2]


def test_nobody_waits_longer_than_their_patience_and_no_second_thread_is_stuck(finding: Finding) -> None:
    cached = Cached(finding, seconds=LONG, patience=0.05)
    for _ in range(3):
        with pytest.raises(NoAnswer, match=r"has not answered within 0\.05 s"):
            cached.get()
    assert finding.begun == 1
    finding.may_end.set()
    wait_until(lambda: threading.active_count() == 1 or not is_looking())
    assert (cached.get(), finding.begun) == (1, 1)  # what came too late is there for those who come now


def is_looking() -> bool:
    return any(thread.name == "look" for thread in threading.enumerate())


def test_forgotten_value_is_found_anew_also_while_it_is_being_found(finding: Finding) -> None:
    cached = Cached(finding, seconds=LONG, patience=LONG)
    with ThreadPoolExecutor(1) as threads:
        early = threads.submit(cached.get)
        wait_until(lambda: finding.begun)
        cached.forget()
        finding.may_end.set()
        assert cached.get() == 2
        assert early.result() == 1
    assert cached.get() == 2


def test_error_is_raised_and_not_kept() -> None:
    errors = iter([ValueError("once")])

    def find() -> int:
        for error in errors:
            raise error
        return 7

    cached = Cached(find, seconds=LONG, patience=LONG)
    with pytest.raises(ValueError, match="once"):
        cached.get()
    assert cached.get() == 7


def find_name() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('application_name'), current_setting('statement_timeout')")
        (row,) = cursor.fetchall()
    return row[0], row[1]


def test_look_has_a_connection_of_its_own_and_leaves_none_behind() -> None:
    assert Cached(find_name, seconds=0.0, patience=7.0).get() == ("handover-look", "7s")
    wait_until(lambda: count_looks() == 0)
    assert find_name() == ("", "0")


def count_looks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'handover-look'")
        (row,) = cursor.fetchall()
    return int(row[0])


def sleep_in_the_server() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(600)")


def test_statement_that_takes_too_long_is_ended_in_the_server_too() -> None:
    with pytest.raises(OperationalError):
        Cached(sleep_in_the_server, seconds=0.0, patience=0.1).get()
    wait_until(lambda: count_looks() == 0)
