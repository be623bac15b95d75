"""A server of a cluster: why it could not be copied."""

from pathlib import Path

import pytest

from config.postgres import Cluster, PostgresError
from config.postgres.errors import explain_failure
from config.postgres.node import Node


def test_copy_that_fails_gives_the_reason_and_leaves_nothing_that_looks_like_a_server(
    cluster: Cluster, folder: Path
) -> None:
    cluster.start()
    closed = cluster.place.data / "closed"
    closed.touch(mode=0o000)
    node = Node(folder / "b", name="b")

    with pytest.raises(PostgresError) as refused:
        node.copy(cluster.place)

    message = str(refused.value)
    assert message.startswith("pg_basebackup failed for the server b: pg_basebackup: error: ")
    assert 'could not open file "./closed": Permission denied' in message
    assert "removing" not in message
    assert not node.exists

    closed.unlink()
    node.copy(cluster.place)
    assert (node.exists, node.is_standby) == (True, True)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "pg_basebackup: error: no answer\npg_basebackup: detail: It hung up.\npg_basebackup: removing contents of x\n",
            "pg_basebackup: error: no answer; pg_basebackup: detail: It hung up.",
        ),
        (
            'initdb: removing data directory\n2026 UTC [1] FATAL:  out of "memory"\n\n',
            '2026 UTC [1] FATAL:  out of "memory"',
        ),
        ("something\nelse entirely\n", "else entirely"),
        ("\n", "it said nothing"),
    ],
)
def test_failure_is_explained_by_what_names_a_reason_or_else_by_the_last_words(
    said: str, reason: str
) -> None:
    assert explain_failure(said) == reason
