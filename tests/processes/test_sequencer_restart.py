"""The database restarts under a running sequencer and consumer: they come back by themselves, and no gap stops them.

On a server of its own, because it is restarted. I7 (an event in a prepared transaction that outlives the restart) and O15.
"""

import signal
from pathlib import Path

import psycopg
import pytest

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from tests.processes.own_server import fetch, get_environment, own_server
from tests.processes.running import Running
from tests.waiting import wait_until

__all__ = ["own_server"]
pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
INSERT = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    VALUES (gen_random_uuid(), 'ThingNoted', %s, 1, 'policy', '{}')
"""
NAME = "marksheet_history"  # follows the log past events of any kind


def list_numbered(cluster: Cluster) -> list[tuple[object, ...]]:
    return fetch(
        cluster,
        "SELECT position.pos, event.subject FROM outbox_eventposition AS position"
        " JOIN outbox_event AS event USING (seq) ORDER BY position.pos",
    )


def cursor_is_at(cluster: Cluster, position: int) -> bool:
    return fetch(cluster, "SELECT position FROM outbox_consumer WHERE name = %s", NAME) == [(position,)]


def test_i7_o15_prepared_event_and_burned_numbers_outlive_a_restart_under_running_processes(
    own_server: Cluster, tmp_path: Path
) -> None:
    environment = get_environment(own_server)
    with (
        Running("run_sequencer", environment=environment, log=tmp_path / "sequencer.log") as sequencer,
        Running("run_consumer", NAME, environment=environment, log=tmp_path / "consumer.log") as consumer,
    ):
        with psycopg.connect(own_server.url(SUPERUSER), autocommit=True) as session:
            session.execute("BEGIN")
            session.execute(INSERT, ["thing:prepared"])
            session.execute("PREPARE TRANSACTION 'half'")
            session.execute("BEGIN")
            session.cursor().executemany(INSERT, [(f"thing:burned {number}",) for number in range(5_000)])
            session.execute("ROLLBACK")
        fetch(own_server, INSERT, "thing:before")
        wait_until(lambda: cursor_is_at(own_server, 1))

        own_server.stop()
        own_server.start()

        fetch(own_server, INSERT, "thing:after")
        wait_until(lambda: cursor_is_at(own_server, 2), seconds=60)
        with psycopg.connect(own_server.url(SUPERUSER), autocommit=True) as session:
            session.execute("COMMIT PREPARED 'half'")
        wait_until(lambda: cursor_is_at(own_server, 3))
        assert list_numbered(own_server) == [
            (1, "thing:before"),
            (2, "thing:after"),
            (3, "thing:prepared"),
        ]
        for each in (sequencer, consumer):
            assert not each.has_ended
            each.send(signal.SIGTERM)
        assert [sequencer.wait(), consumer.wait()] == [0, 0]
    (ticks,) = fetch(own_server, "SELECT count(*) FROM outbox_tick")
    assert ticks == (3,), "a gap must not make it write"
