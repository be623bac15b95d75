"""The rules the database itself keeps: numbers by hand, changes of the past, defaults for plain SQL."""

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from outbox.log.sequencer import sequence_events
from outbox.models import Event
from tests.outbox.things import append_things

INSERT = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload{columns})
    VALUES (gen_random_uuid(), 'ThingNoted', 'thing:1', 1, 'policy', '{{}}'{values})
"""


def execute(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db
def test_event_gets_every_number_and_default_from_the_database_when_plain_sql_omits_them() -> None:
    with connection.cursor() as cursor:
        cursor.execute(INSERT.format(columns="", values=""))
        cursor.execute("SELECT pg_current_xact_id()::text")
        xid = int(cursor.fetchone()[0])

    event = Event.objects.get()
    assert (event.xid, event.schema_version, event.tenant_id) == (xid, 1, None)
    assert event.seq > 0
    assert event.occurred_at is not None


@pytest.mark.django_db
def test_event_is_refused_when_its_sequence_number_is_given_by_hand() -> None:
    with pytest.raises(ProgrammingError, match="cannot insert a non-DEFAULT value into column"):
        execute(INSERT.format(columns=", seq", values=", 7"))


@pytest.mark.django_db
def test_event_is_refused_when_its_sequence_number_is_given_by_force() -> None:
    append_things(1)
    forced = INSERT.format(columns=", seq", values=", 7").replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES")

    with pytest.raises(IntegrityError, match="never given by hand"):
        execute(forced)


@pytest.mark.django_db
@pytest.mark.parametrize("xid", ["'3'::xid8", "'9000000000'::xid8"])
def test_event_is_refused_when_its_transaction_id_is_given_by_hand(xid: str) -> None:
    with pytest.raises(IntegrityError, match="never given by hand"):
        execute(INSERT.format(columns=", xid", values=f", {xid}"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["outbox_event", "outbox_eventposition", "outbox_tick"])
@pytest.mark.parametrize("change", ["DELETE FROM {table}", "UPDATE {table} SET {column} = {column}"])
def test_log_refuses_to_be_changed_even_by_its_owner(table: str, change: str) -> None:
    append_things(1)
    sequence_events()
    column = {"outbox_event": "kind", "outbox_eventposition": "digest", "outbox_tick": "digest"}[table]

    with pytest.raises(IntegrityError, match=f"{table} is append-only"):
        execute(change.format(table=table, column=column))

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_sequence_hands_out_numbers_one_by_one() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cache_size FROM pg_sequences WHERE sequencename = 'outbox_event_seq_seq'")
        assert cursor.fetchone() == (1,)
