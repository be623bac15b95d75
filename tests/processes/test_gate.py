"""The gate as a real process: killed, stopped, and asked again."""

import http.client
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection

from exams.models import Attempt, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt
from tests import factories
from tests.counting import count_stored
from tests.posting import Answer, Poster, Sitting, sitting_of
from tests.serving import WebServer, serving
from tests.waiting import wait_until

pytestmark = pytest.mark.process

ANSWERS = {"q1": "a", "q2": ["x"]}
LOST = (OSError, http.client.HTTPException)


@pytest.fixture
def attempt(transactional_db: None) -> Attempt:
    """An open attempt."""
    return factories.attempt()


@pytest.fixture(scope="module")
def neighbour(standing_environment: dict[str, str]) -> Iterator[WebServer]:
    """A gate of two processes that nobody kills: where students turn when another has died."""
    with serving(standing_environment, workers=2) as server:
        yield server


def hand_in(port: int, sitting: Sitting) -> Answer:
    with Poster(port) as poster:
        return poster.hand_in(sitting, ANSWERS)


def stored_receipt() -> dict[str, str | int]:
    return sign_receipt(Receipt.of(Submission.objects.get()), get_key_ring())


def is_held() -> Callable[[], object]:
    """Return whether a gate's statement waits for a lock now: its request is inside its transaction."""

    def ask() -> object:
        with connection.cursor() as cursor:
            cursor.execute(
                """
                SELECT 1 FROM pg_stat_activity
                WHERE application_name = 'handover-gate' AND wait_event_type = 'Lock' AND datname = current_database()
                """
            )
            return cursor.fetchone()

    return ask


def test_retry_gets_the_first_receipt_after_the_process_was_killed_between_commit_and_answer(
    attempt: Attempt, process_environment: dict[str, str], neighbour: WebServer
) -> None:
    sitting = sitting_of(attempt)
    with (
        serving({**process_environment, "HANDOVER_FAULT_POINT": "gate_committed:kill"}) as dying,
        pytest.raises(LOST),
    ):
        hand_in(dying.port, sitting)
    assert count_stored() == (1, 1, 1)

    retry = hand_in(neighbour.port, sitting)

    assert (retry.status, retry.headers["idempotent-replayed"]) == (200, "true")
    assert retry.body == stored_receipt()
    assert count_stored() == (1, 1, 1)


def test_nothing_is_stored_when_the_process_is_killed_before_it_asks_the_database(
    attempt: Attempt, process_environment: dict[str, str], neighbour: WebServer
) -> None:
    sitting = sitting_of(attempt)
    with (
        serving({**process_environment, "HANDOVER_FAULT_POINT": "gate_sending:kill"}) as dying,
        pytest.raises(LOST),
    ):
        hand_in(dying.port, sitting)
    assert count_stored() == (0, 0, 0)

    retry = hand_in(neighbour.port, sitting)

    assert (retry.status, retry.body) == (202, stored_receipt())


def test_requests_of_one_key_wait_for_the_first_and_share_its_effect(
    attempt: Attempt, neighbour: WebServer, database_url: str
) -> None:
    """O02, first run: the first is held inside its transaction, twenty more arrive."""
    sitting = sitting_of(attempt)
    with ThreadPoolExecutor(21) as pool:
        with psycopg.connect(database_url) as holder:
            holder.execute("LOCK TABLE exams_submission IN SHARE MODE")
            first = pool.submit(hand_in, neighbour.port, sitting)
            wait_until(is_held())
            more = [pool.submit(hand_in, neighbour.port, sitting) for _ in range(20)]
        answers = [future.result() for future in (first, *more)]

    assert Counter(answer.status for answer in answers) == {202: 1, 200: 20}
    assert all(answer.body == stored_receipt() for answer in answers)
    assert count_stored() == (1, 1, 1)


def test_key_is_whole_or_free_after_its_process_was_killed_inside_the_transaction(
    attempt: Attempt, process_environment: dict[str, str], neighbour: WebServer, database_url: str
) -> None:
    """O02, second run: kill -9 before the commit. Its database session may still end it either way, but never by half."""
    sitting = sitting_of(attempt)
    with serving(process_environment) as dying, ThreadPoolExecutor(1) as pool:
        with psycopg.connect(database_url) as holder:
            holder.execute("LOCK TABLE exams_submission IN SHARE MODE")
            lost = pool.submit(hand_in, dying.port, sitting)
            wait_until(is_held())
            dying.kill()
        with pytest.raises(LOST):
            lost.result()
    retry = hand_in(neighbour.port, sitting)

    assert retry.status in {200, 202}
    assert retry.body == stored_receipt()
    assert count_stored() == (1, 1, 1)


def test_orderly_stop_answers_whoever_is_in_line(
    attempt: Attempt, process_environment: dict[str, str], database_url: str
) -> None:
    with serving(process_environment) as server, ThreadPoolExecutor(1) as pool:
        with psycopg.connect(database_url) as holder:
            holder.execute("LOCK TABLE exams_submission IN SHARE MODE")
            answer = pool.submit(hand_in, server.port, sitting_of(attempt))
            wait_until(is_held())
            assert server.process is not None
            server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(timeout=60)

    assert (answer.result().status, answer.result().body) == (202, stored_receipt())
    assert code == 0


def test_durability_that_is_not_kept_is_refused_at_the_start(
    transactional_db: None, process_environment: dict[str, str]
) -> None:
    environment = {**process_environment, "HANDOVER_DURABILITY": "quorum"}

    with pytest.raises(AssertionError, match="ended at once"), serving(environment):
        pass
