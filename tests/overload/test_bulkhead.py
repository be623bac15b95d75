"""While pages are stuck, frozen or dead, what students hand in is taken: with real processes, and locks as the trouble."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import psycopg
import pytest

from config.admission.lanes import _FORWARDED_AT_ONCE
from exams.models import Attempt
from gradebook.models import User
from tests import factories
from tests.counting import count_stored
from tests.overload.callers import ask, ask_many, count_lock_waits, save_draft, sign_in
from tests.overload.pools import serving_with_pools
from tests.posting import Poster, sitting_of
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]

PAGE = "/marksheets/"
ANSWERS = {"q1": "a"}


@pytest.fixture
def attempts(transactional_db: None) -> list[Attempt]:
    """Open attempts of several students."""
    return [factories.attempt() for _ in range(3)]


@pytest.fixture
def stuck_pages(database_url: str) -> Iterator[psycopg.Connection]:
    """A session that holds the mark sheets: every page about them waits for it."""
    with psycopg.connect(database_url) as holder:
        yield holder


def lock_pages(holder: psycopg.Connection) -> None:
    holder.execute("LOCK TABLE gradebook_marksheet IN ACCESS EXCLUSIVE MODE")


def hand_in(port: int, attempt: Attempt) -> int:
    with Poster(port) as poster:
        return poster.hand_in(sitting_of(attempt), ANSWERS).status


def test_submit_and_draft_are_taken_while_every_place_of_the_pages_is_stuck(
    attempts: list[Attempt],
    teacher: User,
    stuck_pages: psycopg.Connection,
    process_environment: dict[str, str],
) -> None:
    """One process for everything, ten places: six at most for teachers, forty may wait, and the rest is shed."""
    head = sign_in(teacher)
    environment = {**process_environment, "DATABASE_POOL_SIZE": "12"}
    with serving(environment) as server, ThreadPoolExecutor(60) as pool:
        lock_pages(stuck_pages)
        pages = ask_many(pool, 60, server.port, PAGE, head)
        wait_until(lambda: count_lock_waits() == 6 and sum(page.done() for page in pages) >= 14)

        submitted = [hand_in(server.port, attempt) for attempt in attempts[:2]]
        draft = save_draft(server.port, sitting_of(attempts[2]))
        stuck = count_lock_waits()
        shed = [page.result() for page in pages if page.done()]
        stuck_pages.rollback()
        statuses = Counter(page.result()[0] for page in pages)

    assert (submitted, draft, stuck) == ([202, 202], 200, 6)
    assert {(status, head["content-type"]) for status, head, _ in shed} == {(503, "text/html; charset=utf-8")}
    assert {int(head["retry-after"]) for _, head, _ in shed} <= {1, 2, 3, 4, 5}
    assert set(statuses) == {200, 503}
    assert statuses[200] >= 6
    assert count_stored() == (2, 2, 2)


def test_frozen_pages_cost_nobody_else_anything_and_answer_when_they_go_on(
    attempts: list[Attempt], teacher: User, process_environment: dict[str, str]
) -> None:
    head = sign_in(teacher)
    with (
        serving_with_pools(process_environment) as (server, pools),
        ThreadPoolExecutor(_FORWARDED_AT_ONCE + 10) as pool,
    ):
        assert ask(server.port, PAGE, head)[0] == 200
        well = json.loads(ask(server.port, "/healthz")[2])
        pools["pages"].freeze()
        pages = ask_many(pool, _FORWARDED_AT_ONCE + 10, server.port, PAGE, head)
        wait_until(lambda: sum(page.done() for page in pages) == 10)  # as many as may be handed on have been

        assert [hand_in(server.port, attempt) for attempt in attempts[:2]] == [202, 202]
        assert save_draft(server.port, sitting_of(attempts[2])) == 200
        assert json.loads(ask(server.port, "/healthz")[2]) == well
        assert [page.result()[0] for page in pages if page.done()] == [503] * 10

        pools["pages"].thaw()
        done, late = wait(pages, timeout=60)
        wait_until(lambda: ask(server.port, PAGE, head)[0] == 200)

    assert late == set()
    assert {page.result()[0] for page in done} <= {200, 503}
    assert count_stored() == (2, 2, 2)


def test_dead_pages_are_a_plain_answer_at_once_until_they_are_back(
    attempts: list[Attempt], teacher: User, process_environment: dict[str, str]
) -> None:
    head = sign_in(teacher)
    with serving_with_pools(process_environment) as (server, pools):
        pools["pages"].kill()
        status, headers, page = ask(server.port, PAGE, head)
        assert (status, headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert b"Very busy right now" in page
        assert hand_in(server.port, attempts[0]) == 202
        assert save_draft(server.port, sitting_of(attempts[1])) == 200

        pools["pages"].start()
        assert ask(server.port, PAGE, head)[0] == 200


def test_dead_students_pool_stops_no_submission(
    attempts: list[Attempt], teacher: User, process_environment: dict[str, str]
) -> None:
    with serving_with_pools(process_environment) as (server, pools):
        assert save_draft(server.port, sitting_of(attempts[0])) == 200
        pools["student"].kill()

        assert save_draft(server.port, sitting_of(attempts[1])) == 503
        assert hand_in(server.port, attempts[0]) == 202
        assert ask(server.port, PAGE, sign_in(teacher))[0] == 200


def test_statement_of_a_page_is_ended_by_the_server_after_as_long_as_a_page_may_take(
    teacher: User, stuck_pages: psycopg.Connection, process_environment: dict[str, str]
) -> None:
    """So its place is free again, though what it waited for is still held."""
    head = sign_in(teacher)
    with serving({**process_environment, "PAGE_SECONDS": "1"}) as server:
        lock_pages(stuck_pages)

        status, headers, page = ask(server.port, PAGE, head)
        wait_until(lambda: count_lock_waits() == 0)
        stuck_pages.rollback()

        assert (status, headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert b"This took too long" in page
        assert ask(server.port, PAGE, head)[0] == 200
