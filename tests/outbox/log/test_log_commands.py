"""The log's commands as a person meets them: what they print, how they exit, and that `--help` teaches."""

import contextlib
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from outbox.consumers import registry
from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.consumer import Batch
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, EventPosition, Tick
from tests.outbox.consumers.noted import TABLE, ThingsNoted, deliver, noted
from tests.outbox.things import append, append_things, new_event

__all__ = ["noted"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def run(*words: str) -> str:
    """Run a command and return what it printed."""
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("command", "lesson"),
    [
        ("run_sequencer", "While none runs, nothing is lost"),
        ("run_consumer", "An event that fails three times parks its subject"),
        ("rebuild_projection", "Nobody ever sees an empty table"),
        ("verify_log", "Compare it with one of them"),
        ("consumers", "replay what waits for these subjects, in order"),
    ],
)
def test_help_teaches(command: str, lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        call_command(command, "--help")

    assert lesson in capsys.readouterr().out


def test_sequencer_numbers_what_waits_and_ends_when_run_once() -> None:
    append_things(3)

    assert run("run_sequencer", "--once") == "Ended. 3 events numbered.\n"
    assert EventPosition.objects.count() == 3
    assert run("run_sequencer", "--once") == "Ended. 0 events numbered.\n"


def test_sequencer_begins_an_epoch_when_told() -> None:
    append_things(2)

    assert (
        run("run_sequencer", "--start-epoch") == "A new epoch begins with tick 1; 2 events were numbered.\n"
    )
    assert Tick.objects.get().epoch == 1


def test_consumer_catches_up_and_ends_when_run_once(noted: ThingsNoted) -> None:
    append_things(3)
    sequence_events()

    run("run_consumer", noted.name, "--once", "--limit", "2")

    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2), ("thing:1", 3)]


def test_consumer_of_an_unknown_name_is_refused_with_the_names_there_are(noted: ThingsNoted) -> None:
    with pytest.raises(CommandError, match=r"There is no consumer nobody\. Known: .*things_noted"):
        run("run_consumer", "nobody", "--once")


@pytest.mark.parametrize("how", [["--once"], []])
def test_consumer_ends_with_an_error_when_its_cursor_is_of_another_epoch(
    how: list[str], noted: ThingsNoted
) -> None:
    append_things(1)
    deliver(noted)
    run("run_sequencer", "--start-epoch")

    with pytest.raises(CommandError, match="but the log is in epoch 1"):
        run("run_consumer", noted.name, *how)


def test_rebuild_offers_only_what_it_does_not_refuse(
    noted: ThingsNoted, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        call_command("rebuild_projection", "--help")

    (line,) = (line for line in capsys.readouterr().out.splitlines() if "one of: " in line)
    offered = line.partition("one of: ")[2].split(", ")
    assert offered == ["analytics", "marksheet_history", noted.name]
    refused = {handler.name for handler in registry.list_consumers()} - set(offered)
    assert refused == {"gradebook_marks", "relay"}
    for name in refused:
        with pytest.raises(CommandError, match="keeps no tables of its own"):
            run("rebuild_projection", name)


def test_rebuild_says_what_it_did(noted: ThingsNoted) -> None:
    append_things(2)
    before = deliver(noted)

    assert run("rebuild_projection", noted.name) == "things_noted is rebuilt.\n"
    assert noted.list_noted() == before


def test_rebuild_beside_reports_row_by_row_what_it_took_over(noted: ThingsNoted) -> None:
    append_things(2)
    deliver(noted)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {TABLE} SET note = 'false' WHERE pos = 2")

    assert run("rebuild_projection", noted.name, "--beside").splitlines() == [
        "things_noted: 0 rows missing, 0 too many, 1 different",
        "  different: {'pos': 2, 'note': 'false', 'subject': 'thing:1', 'version': 2} should have note None, not 'false'",
        "things_noted equals the log at position 2. 1 rows taken over from the twin.",
    ]
    assert noted.list_rows()[1] == (2, "thing:1", 2, None)


def test_comparison_ends_with_an_error_and_changes_nothing_when_rows_differ(noted: ThingsNoted) -> None:
    append_things(2)
    deliver(noted)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE pos = 1")

    with pytest.raises(CommandError, match=r"1 rows differ\. Nothing was changed\."):
        run("rebuild_projection", noted.name, "--compare")

    assert noted.list_noted() == [("thing:1", 2)]


def test_verification_prints_the_digest_to_compare(noted: ThingsNoted) -> None:
    append_things(2)
    sequence_events()

    digest = bytes(Tick.objects.get().digest).hex()
    assert run("verify_log").splitlines() == [
        "The log is sound: 2 events in 1 ticks.",
        f"Digest of tick 1: {digest}",
    ]


def test_verification_ends_with_an_error_that_names_the_altered_event() -> None:
    _, second = append([new_event("thing:1"), new_event("thing:2")])
    sequence_events()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_event DISABLE TRIGGER USER")
        cursor.execute("UPDATE outbox_event SET payload = '[]' WHERE event_id = %s", [second])
        cursor.execute("ALTER TABLE outbox_event ENABLE TRIGGER USER")

    with pytest.raises(CommandError, match=f"event altered at position 2: ThingNoted {second} of thing:2"):
        run("verify_log")


@pytest.mark.parametrize(
    ("tick", "words"), [("2", "There is no tick 2; the last one is 1"), ("0", "begin with 1")]
)
def test_verification_from_a_tick_that_is_not_there_is_refused(tick: str, words: str) -> None:
    append_things(2)
    sequence_events()

    with pytest.raises(CommandError, match=words):
        run("verify_log", "--from-tick", tick)


def test_list_shows_each_consumer_and_what_is_parked(noted: ThingsNoted) -> None:
    append([new_event("thing:1", note="poison")])
    sequence_events()
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass

    out = StringIO()
    with contextlib.suppress(CommandError):  # the product's own consumers do not run here and may be late
        call_command("consumers", "list", stdout=out)
    lines = [line for line in out.getvalue().splitlines() if "thing" in line]

    assert lines[0].startswith(
        "things_noted: running, at 0.0.1 of 0.0.1, 0.0 s behind (budget 2 s), last heartbeat 2"
    )
    assert lines[1].startswith("  parked: thing:1 (3 tries): IntegrityError: new row for relation")


def test_list_ends_with_an_error_when_a_consumer_is_behind_its_budget(noted: ThingsNoted) -> None:
    append_things(1)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_event DISABLE TRIGGER USER")
        cursor.execute("UPDATE outbox_event SET occurred_at = occurred_at - interval '1 hour'")
        cursor.execute("ALTER TABLE outbox_event ENABLE TRIGGER USER")

    with pytest.raises(CommandError, match=r"Behind budget: .*things_noted"):
        run("consumers", "list")


def test_consumer_is_paused_and_resumed(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)

    assert run("consumers", "pause", noted.name) == "things_noted is paused.\n"
    assert Consumer.objects.get(name=noted.name).state == "paused"
    assert run("consumers", "resume", noted.name) == "things_noted goes on.\n"
    assert Consumer.objects.get(name=noted.name).state == "running"


def test_consumer_that_never_ran_cannot_be_paused(noted: ThingsNoted) -> None:
    with pytest.raises(CommandError, match="things_noted never ran"):
        run("consumers", "pause", noted.name)


def test_consumer_adopts_a_new_epoch(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    run("run_sequencer", "--start-epoch")

    with pytest.raises(
        CommandError, match=r"Not running, because the log was restored or moved: things_noted\."
    ):
        run("consumers", "list")
    assert run("consumers", "adopt", noted.name) == "things_noted goes on at 1.0.1.\n"
    run("run_consumer", noted.name, "--once")
    assert "things_noted: running, at 1.0.1 of 1.0.1" in run("consumers", "list")


def test_release_says_that_nothing_is_parked(noted: ThingsNoted) -> None:
    deliver(noted)

    assert run("consumers", "release", noted.name, "--all") == f"{noted.name} has parked nothing.\n"


def test_release_replays_and_frees_and_says_what_still_fails(noted: ThingsNoted) -> None:
    append([new_event("thing:1"), new_event("thing:2"), new_event("thing:2", 2)])
    sequence_events()
    bad = {1, 2}

    def refuse(batch: Batch) -> None:
        if bad & set(batch.positions):
            raise ValueError("no")

    noted.interrupt = refuse
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass
    bad = {1}

    with pytest.raises(CommandError, match=r"Still parked: thing:1\."):
        run("consumers", "release", noted.name, "--all")

    assert noted.list_noted() == [("thing:2", 1), ("thing:2", 2)]
    bad = set()
    assert run("consumers", "release", noted.name, "thing:1") == "thing:1: 1 events replayed, free\n"
    with pytest.raises(CommandError, match="has not parked thing:1"):
        run("consumers", "release", noted.name, "thing:1")


@pytest.mark.parametrize("words", [[], ["thing:1", "--all"]])
def test_release_asks_for_subjects_or_all_of_them(words: list[str], noted: ThingsNoted) -> None:
    with pytest.raises(CommandError, match="Name the subjects to release, or say --all"):
        run("consumers", "release", noted.name, *words)
